// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/explaining"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

var explainLong = fmt.Sprintf(`explain shows why a Placement selects certain clusters: a summary, notable findings, and a table of the clusters
with the verdict, the exact clause, the rank, the score, and the score of each prioritizer. It runs the code of the
controller on the current objects of the hub, and changes nothing: it only reads.

Name a Placement as NAMESPACE/NAME, as NAME with -n or the namespace of the context, or as kubectl does:
placement/NAME, placements/NAME, placement NAME, or with the API group, placements.GROUP/NAME. If both API groups have
a Placement of that name, the command explains both; NAME@GROUP or --api selects one. The command explains several
names, also of different types, one after the other, even if one of them does not exist.

  --cluster  explains one cluster in full: sets, each clause of each predicate, taints and tolerations,
             scores, and the changes that would select it. The command evaluates the Placement with each of
             these changes; it tries one change before two, and names another cluster that would leave.
  --all-clusters
             lists every cluster in scope. Without it, a table with more than 30 rejected clusters has a line for each
             cause instead: how many clusters, the first names, and the clause. JSON, YAML and -o wide are complete.
  --all      lists the unsatisfied Placements of the namespace, or with -A of all, with their main cause.
  --watch    prints again whenever the result or the written decisions change.

The table is the result for the current objects. "decisions are behind" lists the clusters that the hub has still to write.
The command evaluates every Placement separately, with the decisions that are written.

Name a workload as kubectl does: TYPE/NAME or TYPE NAME with -n, where TYPE is pod, replicationcontroller, replicaset,
deployment, statefulset, daemonset, job or cronjob, or a short name of these. Give a namespace that is named like a type
with -n. The report has
  - each pod scheduling policy: why it does not match, or which fields it adds, which the workload has already, and which
    the policy skips in favour of the workload's own value. An existing workload lacks the added fields, because it was
    admitted before the policy;
  - the AffinityClass of the application that the Pods belong to, where it comes from, whether the Pods satisfy it, and
    otherwise the text with which new Pods are refused;
  - the nodes that fit by node name, node selector, required node affinity and tolerations, and why the others do not, in
    the words of kube-scheduler.

Name a delivered object alike: ConfigMaps, Secrets, Services, Ingresses, Deployments, ReplicaSets, DaemonSets and
--federated-kinds of a namespace with the label federation.kubernetes.io/federated=true. The report has the verdict on each
cluster, as placement federated has it, with the same rights; for workloads it follows the report about their Pods. --cluster
explains one cluster in full, with the changes that would select it. --watch follows ConfigMaps, Secrets, Services and
Ingresses; placement federated --watch follows workloads too.

Name a ClusterRequest as clusterrequest/NAME. The report has
  - what the request and its Purposes ask for together, and who asks for each part;
  - the first thing that each existing Cluster and each profile lacks, and the choice with its rank;
  - for a request that is denied or pending, the changes that would grant it; the command evaluates the request with each.
The hub never computes a Grant again: the report of a granted request shows what another request like it would see. The
command assumes the default strategy and scope of the hub, or those of --cluster-request-strategy and
--cluster-request-scope.

The user needs these rights:
  - for Placements, list on managedclusters, managedclustersets, addonplacementscores and placementdecisions, and on
    placements and managedclustersetbindings in the namespace; watch as well for --watch.
  - for workloads, get on the workload, its owners and its namespace, and list on podschedulingpolicies,
    clusterpodschedulingpolicies, affinityclasses, tenants and nodes. The report says which of these are not installed or
    may not be read; the exit code is 1 if a right is missing.
  - for ClusterRequests, list on clusterrequests, clusterrequestgrants, clusters, clusterproviders, purposes and
    traitequivalences.
The ClusterRole open-cluster-management:placement-hub:fleet-view, by a ClusterRoleBinding, has all of these rights that go
beyond the namespace of the object, for which view is enough. It shows the whole fleet.

For a user with fewer rights the hub explains Placements, workloads, delivered objects and ClusterRequests that the user may get: the
command asks it with the bearer token of the user, at --endpoint or where the ConfigMap %[1]s says, and prints
what the namespace of the object may see. If the hub does not answer, the command prints what the hub has written about
the object and the missing rights, and exits with code 1.

With -f the command reads the hub from files, as placement simulate does.

The exit code is 0 when everything was evaluated, also if a Placement is unsatisfied or misconfigured, or a Pod refused.`, endpoint.ConfigMap)

const explainExample = `  # Why these clusters?
  placement explain team-a/standby

  # Why not this cluster, and which changes would select it?
  placement explain standby -n team-a --cluster eu1

  # Which Placements are unsatisfied?
  placement explain --all -A

  # All columns, the clusters out of scope too; follow every change
  placement explain team-a/standby -o wide --watch

  # Where may the Pods of a workload run, and which policies and class decide that?
  placement explain deployment/web -n team-a
  placement explain pod/main-db-0 -n tenant-acme -o wide

  # Why is this ConfigMap not delivered to that cluster, and which changes would deliver it?
  placement explain configmap/settings -n team-a --cluster us1

  # Which Cluster does this request get, and what would have to change if it is denied?
  placement explain clusterrequest/ci -n team-a

  # Several at once
  placement explain team-a/standby team-b/rollout
  placement explain placement/standby deployment/web -n team-a

  # Without a hub
  placement explain team-a/standby -f deploy/samples`

func newExplainCommand() *cobra.Command {
	var o explaining.Options
	cmd := &cobra.Command{
		Use:               "explain (NAMESPACE/NAME | TYPE/NAME) ...",
		Short:             "Explain why a placement selects certain clusters, where a workload may run, or what a cluster request gets",
		Long:              explainLong,
		Example:           explainExample,
		ValidArgsFunction: o.CompletePlacements,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return err
			}
			return o.WarnLease(cmd.Context(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.Lookup("namespace").Usage = "Namespace of placements that are named without one, and of objects in files without one. " +
		"Default: the namespace of the context."
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil,
		"File or directory with the objects of the hub, or - for standard input, instead of a live hub. May be repeated.")
	flags.StringArrayVarP(&o.Clusters, "cluster", "c", nil, "Cluster to explain in full. May be repeated.")
	flags.StringVar(&o.API, "api", "", "API group or version of the placement, such as v1alpha1. Default: both.")
	flags.StringVar(&o.Now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.Output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide, json, yaml, or name (one line \"namespace/name cluster\" per selected cluster, or node that fits).")
	o.AddLabels(flags, "unsatisfied placements to list; implies --all")
	flags.BoolVar(&o.All, "all", false, "List the unsatisfied placements with their main cause.")
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "List the unsatisfied placements of all namespaces; implies --all.")
	flags.BoolVar(&o.AllClusters, answers.AllClustersFlag, false,
		"List all clusters in scope in the table. Default: beyond 30 rejected clusters, it has their causes.")
	flags.BoolVarP(&o.Watch, "watch", "w", false, "Print again whenever the result or the written decisions change, until Ctrl-C.")
	o.RegisterCompletions(cmd)
	return cmd
}
