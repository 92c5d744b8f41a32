// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/simulating"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

const simulateLong = `simulate evaluates every Placement of a hub, live or in files, with the code of the controller, and reports for every
cluster why it is selected or which stage rejects it. With changes such as --drain it reports instead which clusters the
Placements would gain, lose or keep if these changes were made. It changes nothing: it only reads from a hub.

The command finds the live hub as kubectl does. With -f it reads the objects from files:
  - for Placements: ManagedClusters, ManagedClusterSets, ManagedClusterSetBindings, AddOnPlacementScores, Placements and
    PlacementDecisions; and ServiceAccounts named placement, ClusterRoles and ClusterRoleBindings, which bind sets as
    the controller clustersetbinding-rbac does.
  - for workloads (Pods, Deployments, StatefulSets and so on): the Nodes, Namespaces, pod scheduling policies,
    AffinityClasses, Tenants, applications and HelmReleases. The report says where their Pods may run, as placement
    explain does. A workload without a metadata.uid is a new one.
  - for objects that are delivered to clusters, the report says where they go, as placement federated does, but by the
    result for the Placements that they follow.
  - for ClusterRequests: the Purposes, ClusterProviders and their profiles, Clusters, Grants and TraitEquivalences. The
    report says which Cluster each has or gets, as placement explain does.

The files have YAML documents or JSON, single objects or lists, such as kubectl get -o yaml prints. The command reads
them as strictly as an API server, and sets defaults:
  - Unknown fields, wrong types and values that the CustomResourceDefinitions do not permit are mistakes. So is what the
    admission policies of the hub deny, for all objects that are added, and for those of a hub in files that have no
    metadata.uid. A misspelt kind, version or group is a mistake.
  - Objects of kinds that the hub does not read, such as a Policy or an ApplicationSet, are skipped and counted on stderr;
    --strict refuses them.
  - The command ignores Roles, RoleBindings, AccessRequests, ProviderConfigs (what a provider offers is in the status of
    its ClusterProvider) and CustomResourceDefinitions.

Assumptions about files:
  - The cluster sets "default" and "global" exist, as on every hub, unless the files define them.
  - A cluster is in an exclusive set only by its label cluster.open-cluster-management.io/clusterset: write the label.
    On a hub, admission puts clusters without it into the set "default".
  - A ClusterRole grants what its rules contain; simulate does not evaluate an aggregationRule.
  - PlacementDecisions in the files are the present decisions. Steady, NoSelectIfNew and misconfigured placements
    depend on those of the placement itself, Balance on those of other placements. Every evaluation uses the
    decisions in the files, not the results of this run for other placements.

Changes (--label, --claim, --taint, --drain, --remove, --add, --without-binding, in the order of the command line):
  - Before: the PlacementDecisions that are written, on which consumers act. For a Placement that has none yet, the
    report uses the result without the changes.
  - After: what the hub would write. The Placements that lose most come first; those without a difference are
    counted. Lines with "due anyway" come without the changes too, because the written decisions are behind.
  - Each Placement is evaluated separately: Balance and Spread count the decisions that are written now, whatever
    the effect of the changes on other Placements.
  - Placements that have a mistake, or whose cluster set is broken, have no result; they keep their decisions.
  - A cluster that is added without a set, or loses the label of its set, is in the set "default", and a new taint
    has the time of the evaluation, as after admission. The command uses the reported availability of clusters and
    adds no taint unavailable or unreachable. Without a binding that follows from RBAC means without its right.
  - For objects that are delivered to clusters (placement federated), the report has the clusters that would lose or get
    them, largest loss first; the base are their ManifestWorks. The Placements that they follow are evaluated first.
  - --add uses -f for the added objects, so the hub is the live one, or with --hub in files. The report has added
    workloads as placement explain does, among the objects of the hub. Of these kinds, which replace objects of the same
    name, it has what they change:
      policies, classes, Tenants, Nodes, Namespaces, HelmReleases: for other workloads, as placement diff reports it. If
        nothing else is added, the user needs no right on Placements;
      ClusterRequests, Purposes, ClusterProviders, Clusters, TraitEquivalences: the requests that get another result, and
        how many Clusters all requests would need if none had a Grant. A ClusterProvider counts with the profiles in its
        status.

To read a live hub, the user needs the verb list on managedclusters, managedclustersets, managedclustersetbindings,
addonplacementscores, placements and placementdecisions, of the API groups of placements that the hub serves. With
--only-namespace a RoleBinding in that namespace is enough for placements and managedclustersetbindings.

For a user with fewer rights the hub simulates the Placements of one namespace that the user may list, also --without-binding
of a binding that the user may delete, and --add of workloads and PodSchedulingPolicies that the user may write. The command
asks it with the bearer token of the user, as placement explain does.

The exit code is 0 when every Placement was evaluated, also if one is unsatisfied or misconfigured. It is 2 when the
files have mistakes; the command lists all of them, with file and line. With --exit-code it is 1 if the changes make a
difference, and 2 for an error.`

const simulateExample = `  # Which Placements lose clusters if a cluster is drained or removed, on the hub of the current context?
  placement simulate --drain c7
  placement simulate --remove c7 --remove c8 -o name

  # Another label, a taint and fewer bindings at once; --label c7:region- and --taint c7:gpu- remove them
  placement simulate --label c7:region=eu --taint c7:gpu=a100:NoSelect --without-binding team-a/edge

  # Which Placements would select new clusters?
  placement simulate --add -f clusters.yaml

  # Where would the Pods of a new workload run, with another policy and another Node?
  placement simulate --add -f workload.yaml -f policy.yaml -f node.yaml

  # How many Clusters does another limit of a Purpose save, and which requests would a new profile grant?
  placement simulate --add -f purpose.yaml -f clusterprovider.yaml

  # The same for a hub in files
  placement simulate -f deploy/samples --drain eu1
  placement simulate --hub deploy/samples --add -f clusters.yaml

  # Does a decision change? Exit code 0 is no, 1 is yes, 2 is an error
  placement simulate --without-binding edge --exit-code

  # Every placement of a live hub, or in a file or directory (*.yaml, *.yml and *.json, not in its subdirectories)
  placement simulate
  placement simulate -f world.yaml

  # One placement of a live hub, with a change that is not applied yet
  kubectl get managedclusters,managedclustersets,managedclustersetbindings,addonplacementscores,placementdecisions \
    -A -o yaml | placement simulate -f - -f new-placement.yaml --placement team-a/rollout

  # The same result today and tomorrow
  placement simulate -f world.yaml --now 2026-01-31T12:00:00Z -o json`

func newSimulateCommand() *cobra.Command {
	var o simulating.Options
	cmd := &cobra.Command{
		Use:     "simulate [-f FILE]",
		Short:   "Report which clusters placements select and why, also after simulated changes",
		Long:    simulateLong,
		Example: simulateExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			differs, err := o.Run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			switch {
			case err != nil && o.ExitCode:
				return &exit.Error{Code: exit.NotCompared, Err: err}
			case err == nil && differs && o.ExitCode:
				return &exit.Error{Code: exit.Differs}
			default:
				return err
			}
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddSettings(flags)
	flags.Lookup("namespace").Usage = "Namespace of objects in files that name none; default: the namespace of the context. " +
		"Of a live hub, the namespace to report; default: all. " +
		"Deprecated: in files that describe the hub it selects what is reported too; use --only-namespace."
	flags.StringVar(&o.OnlyNamespace, "only-namespace", "",
		"Namespace of the placements and other objects to report, and of the bindings to read from a live hub. Default: all namespaces.")
	o.ChangeFlags.Add(flags)
	o.AddAsk(flags)
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil,
		"File or directory with the objects of the hub, or with --add the objects to add, or - for standard input. May be repeated. "+
			"Default: the live hub.")
	flags.StringArrayVar(&o.HubPaths, "hub", nil,
		"File or directory with the objects of the hub, or - for standard input, if -f names the objects to add. May be repeated.")
	flags.StringArrayVar(&o.Placements, "placement", nil, "Placement to evaluate, as namespace/name. May be repeated. Default: all.")
	flags.StringVar(&o.Now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.Output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide (with --all and --show-kept), json, yaml, or "+
			"name (one line \"namespace/name cluster\" per selected cluster, or with changes "+
			"\"namespace/name +cluster\" per difference, - for lost and ~ for moved; @GROUP follows the name of placements of another API).")
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "Evaluate the placements of all namespaces, which is the default.")
	o.AddLabels(flags, "placements to evaluate, without delivered objects and the like")
	flags.BoolVar(&o.All, "all", false, "Also list clusters out of scope, instead of counting them.")
	flags.BoolVar(&o.ShowKept, "show-kept", false, "With changes: list the clusters that stay, instead of counting them.")
	flags.BoolVar(&o.ExitCode, "exit-code", false,
		"With changes: exit with 1 if they make a difference, 0 if they make none, and 2 for an error, as git diff does.")
	o.Hub.RegisterCompletions(cmd, printers.WideFormats())
	hubflags.Complete(cmd, "only-namespace", o.CompleteNamespaces)
	hubflags.Complete(cmd, "drain", o.CompleteClusters)
	hubflags.Complete(cmd, "remove", o.CompleteClusters)
	return cmd
}
