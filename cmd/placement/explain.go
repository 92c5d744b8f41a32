// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/terminal"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
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

// explainOptions are the flags of the command.
type explainOptions struct {
	hubflags.Files
	hubflags.Settings
	hubflags.Ask
	hubflags.Labels

	files         []string
	clusters      []string
	api           string
	now           string
	output        string
	all           bool
	allNamespaces bool
	watch         bool
	// allClusters lists all clusters where the table would group the rejected ones by their causes.
	allClusters bool
	// color adds terminal colours to tables, and width is the number of columns of the terminal; 0 if the output is none.
	color bool
	width int

	// opened is the source once it was read, and unread the error about that.
	opened *hubflags.Source
	unread error
}

func newExplainCommand() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:               "explain (NAMESPACE/NAME | TYPE/NAME) ...",
		Short:             "Explain why a placement selects certain clusters, where a workload may run, or what a cluster request gets",
		Long:              explainLong,
		Example:           explainExample,
		ValidArgsFunction: o.completePlacements,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return err
			}
			return o.warnLease(cmd.Context(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.Lookup("namespace").Usage = "Namespace of placements that are named without one, and of objects in files without one. " +
		"Default: the namespace of the context."
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"File or directory with the objects of the hub, or - for standard input, instead of a live hub. May be repeated.")
	flags.StringArrayVarP(&o.clusters, "cluster", "c", nil, "Cluster to explain in full. May be repeated.")
	flags.StringVar(&o.api, "api", "", "API group or version of the placement, such as v1alpha1. Default: both.")
	flags.StringVar(&o.now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide, json, yaml, or name (one line \"namespace/name cluster\" per selected cluster, or node that fits).")
	o.AddLabels(flags, "unsatisfied placements to list; implies --all")
	flags.BoolVar(&o.all, "all", false, "List the unsatisfied placements with their main cause.")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the unsatisfied placements of all namespaces; implies --all.")
	flags.BoolVar(&o.allClusters, answers.AllClustersFlag, false,
		"List all clusters in scope in the table. Default: beyond 30 rejected clusters, it has their causes.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Print again whenever the result or the written decisions change, until Ctrl-C.")
	o.registerCompletions(cmd)
	return cmd
}

// run prints the output once, or with --watch until ctx ends.
func (o *explainOptions) run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if err := o.ParseKinds(); err != nil {
		return err
	}
	o.color, o.width = terminal.Colored(stdout), terminal.Width(stdout)
	if o.Text != "" && len(args) > 0 {
		return exit.Mistake(fmt.Errorf("--selector lists placements, so naming %q means nothing; leave out one or the other", args[0]))
	}
	groups := o.groupArgs(args)
	if len(groups) == 1 {
		return o.explainerOf(args).explain(ctx, o, args, stdin, stdout)
	}
	if err := o.checkGroups(); err != nil {
		return exit.Mistake(err)
	}
	var errs []error
	for i, group := range groups {
		var out bytes.Buffer
		err := o.explainerOf(group).explain(ctx, o, group, stdin, &out)
		if o.unread != nil {
			return o.unread
		}
		errs = append(errs, err)
		if err := o.writePart(stdout, out.String(), i > 0); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// runPlacements prints the output about Placements that arguments name, or lists Placements.
func runPlacements(ctx context.Context, o *explainOptions, args []string, stdin io.Reader, stdout io.Writer) error {
	now, targets, err := o.parse(args)
	if err != nil {
		return exit.Mistake(err)
	}
	source, err := o.source(ctx, stdin)
	if err != nil {
		return err
	}
	for i := range targets {
		if targets[i].Namespace == "" {
			targets[i].Namespace = source.Namespace
		}
	}
	if o.watch {
		return o.printChanges(ctx, source, targets, stdout)
	}
	found, err := o.evaluate(ctx, source, targets, o.TimeOf(now, o.now))
	if found != nil {
		err = errors.Join(found.write(stdout, o), err)
	}
	return err
}

// parse parses the command line. Its errors are usage errors.
func (o *explainOptions) parse(args []string) (now time.Time, targets []objectnames.Placement, err error) {
	if now, err = hubflags.ParseNow(o.now); err != nil {
		return now, nil, err
	}
	o.all = o.all || o.allNamespaces || o.Text != ""
	if err := errors.Join(o.ParseLabels(), o.checkArgs(args), o.checkHub()); err != nil {
		return now, nil, err
	}
	targets, err = objectnames.ParsePlacements(args, o.Namespace, o.api)
	return now, targets, err
}

// checkArgs reports a missing or contradictory selection of Placements.
func (o *explainOptions) checkArgs(args []string) error {
	if err := o.checkFormat(); err != nil {
		return err
	}
	switch {
	case o.all && len(args) > 0:
		return fmt.Errorf("--all lists placements, so naming %q means nothing; leave out one or the other", args[0])
	case o.all && o.allClusters:
		return errors.New("--all-clusters lists the clusters of a placement, and --all lists placements; leave out one or the other")
	case o.all && len(o.clusters) > 0:
		return errors.New("--cluster explains one cluster of one placement: name the placement instead of --all")
	case !o.all && len(args) == 0:
		return errors.New("name a placement as NAMESPACE/NAME, or list the unsatisfied ones with --all")
	case o.allNamespaces && o.Namespace != "":
		return errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other")
	default:
		return nil
	}
}

func (o *explainOptions) checkFormat() error {
	if !slices.Contains(printers.WideFormats(), printers.Format(o.output)) {
		return fmt.Errorf("--output: unknown format %q; use one of %v", o.output, printers.WideFormats())
	}
	return nil
}

// checkHub reports flags that contradict the origin of the State.
func (o *explainOptions) checkHub() error {
	return o.CheckSource(o.files, o.watch, o.now)
}

// evaluate computes the output once. It may return an output and an error.
func (o *explainOptions) evaluate(ctx context.Context, from *hubflags.Source, targets []objectnames.Placement, now time.Time) (*explainOutput, error) {
	if o.all {
		return o.listUnsatisfied(ctx, from, now)
	}
	return o.explainPlacements(ctx, from, targets, now)
}

// explainOutput is a result, or the answer of the hub.
type explainOutput struct {
	byHub  *endpoint.Answer
	result document.Source
}

func (e *explainOutput) write(out io.Writer, o *explainOptions) error {
	if e.byHub != nil {
		return hubflags.WriteAnswer(out, e.byHub, nil)
	}
	return o.print(out, e.result)
}

// print prints a result.
func (o *explainOptions) print(out io.Writer, result document.Source) error {
	return printers.Print(out, printers.Format(o.output), result, o.style())
}

// style returns the style for the output.
func (o *explainOptions) style() printers.Style {
	style := answers.ExplanationStyle(o.output, o.allClusters)
	style.Color, style.Width = o.color, o.width
	return style
}

// explaining returns the options of explanations.
func (o *explainOptions) explaining() *tools.ExplainOptions {
	return &tools.ExplainOptions{
		Settings: o.HubSettings(), Clusters: o.clusters, Wide: printers.Format(o.output) == printers.FormatWide,
		Suggest: suggest.Name,
	}
}
