// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/deliveries"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

const federatedLong = `federated shows where the objects of a namespace are delivered. For each object and cluster it reports
  - whether the cluster is selected, or the clause that kept the object out;
  - whether the agent has applied the copy and finds it available, and its last error;
  - the replicas that the cluster is to have, and those that are ready.
It runs the code of the controller on the current objects of the hub, and changes nothing: it only reads.

Objects are ConfigMaps, Secrets, Services, Deployments, ReplicaSets, DaemonSets and Ingresses of namespaces with the label
federation.kubernetes.io/federated=true, and those of --federated-kinds. Give that flag the value of the hub: the command does
not know it, and says so where there are ManifestWorks of other kinds.

Without a name the command lists the objects of the namespace, or with -A of all namespaces that take part, with the clusters
that get them or have them. For one object, TYPE/NAME or TYPE NAME, it lists all clusters in scope, and notes.

The hub has still to write what is "to be delivered", "to be updated" or "to be withdrawn".

The user needs the verb list on managedclusters and managedclustersets, on managedclustersetbindings, placements and
placementdecisions in the namespace, on the objects, and on manifestworks in all namespaces. The report says which objects
and works the user may not read. For a user who may not read the clusters, the hub reports the objects of one namespace of the
kinds that the user may list; the command asks it with the bearer token of the user, as placement explain does. If the hub does
not answer, the command prints what the hub has written and the missing rights, and exits with code 1.

With --watch the command prints again whenever the report changes. The user needs the verb watch as well, with -A on the
objects of all namespaces. The command does not watch or report what the user may not list.

With -f the command reads the hub from files, as placement simulate does.`

const federatedExample = `  # Where are the objects of a namespace delivered?
  placement federated -n team-a

  # Why is this object not in that cluster, and is it applied in the others?
  placement federated deployment/web -n team-a

  # Of all namespaces that take part, with what the hub has still to write
  placement federated -A -o wide

  # Follow a rollout, until Ctrl-C
  placement federated deployment/web -n team-a --watch

  # Without a hub
  placement federated -f docs/examples/federated.yaml`

func newFederatedCommand() *cobra.Command {
	var o deliveries.Options
	cmd := &cobra.Command{
		Use:               "federated [TYPE/NAME]",
		Short:             "Show where objects are delivered, and why",
		Long:              federatedLong,
		Example:           federatedExample,
		ValidArgsFunction: o.CompleteObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddKinds(flags)
	o.AddAsk(flags)
	flags.Lookup("namespace").Usage = "Namespace of the objects, and of objects in files without one. Default: the namespace of the context; " +
		"with -f the report has all."
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil,
		"File or directory with the objects of the hub, or - for standard input, instead of a live hub. May be repeated.")
	flags.StringVar(&o.Now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.Output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide, json, yaml, or name (one line \"namespace/name@kind cluster\" per selected cluster).")
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "List the objects of all namespaces that take part.")
	flags.BoolVarP(&o.Watch, "watch", "w", false, "Print again whenever the report changes, until Ctrl-C.")
	o.AddLabels(flags, "objects to list")
	hubflags.AddHubBudgetFlags(flags, &o.HubLimit)
	o.RegisterCompletions(cmd, printers.WideFormats())
	return cmd
}
