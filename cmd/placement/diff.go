// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

const diffLong = `diff reports what would change if the given files were applied. It runs the code of the controllers and webhooks, and
changes nothing: it reads from the hub, and sends dry runs.

  Placements             the clusters that each gains, loses and keeps, and those that change their decision group
  sets and bindings      how many of all Placements they affect
  policies, classes,     what changes for workloads: PodSchedulingPolicies, ClusterPodSchedulingPolicies, AffinityClasses,
  Tenants, Namespaces    Tenants, and the labels and annotations of Namespaces
  delivered objects      the clusters that get or lose them (placement federated); also of changed Namespaces, sets,
                         bindings and Placements that they follow
  ClusterRequests        the requests that get another result, and how many Clusters all requests would need if none of
                         them had a Grant; also of Purposes, ClusterProviders, TraitEquivalences and Clusters

Placements of cluster.open-cluster-management.io/v1beta1 and placement.open-cluster-management.io/v1alpha1 may be in the
same files. With -l the command compares only those objects of the files that have the labels, as kubectl diff does. It
skips other kinds and counts them on stderr; --strict refuses them. Kinds that decide about Placements and cannot be
compared, such as ManagedClusters, are errors.

The report compares:
  - Before: the PlacementDecisions that are written on the hub, on which consumers act. The prioritizer Steady prefers
    their clusters.
  - After: what the hub would write after the files were written. Fields of the live Placement that the file does not
    set stay or go as with that write; notes name them.
  - Lines with "due anyway" come without the file too, because the written decisions are behind the hub's present state.
  - The command evaluates each Placement separately. The prioritizer Balance counts the decisions that are written now,
    also for other Placements in the same files. Of Placements that are not in the files the report has only numbers,
    if the files have ManagedClusterSets or ManagedClusterSetBindings.

The managedFields of each live object say how the files are written: by the server-side apply of kubectl, Argo CD, Helm or
Flux with its field manager, or by client-side kubectl apply. --server-side, --server-side=false and --replace say it for
all. If the command cannot know and the results differ, the report has both. Files of --hub need managedFields for that
(kubectl get --show-managed-fields).

The command asks the API server of a hub with dryRun=All, so that defaults, admission and conflicts are its own. It merges
by itself what the user may not get and write, as with --hub, with the admission policies that the hub ships, and a note
says so.

For policies, classes and Tenants, the report has every workload whose next admission they change, or that has drifted:
  - the fields that the next update (of a Pod or Job: a new one) gets, with the diff that kubectl diff would show;
    "due anyway" marks drift, which the policies of the hub cause without the file;
  - whether new Pods would be refused, and with which text; Pods that are older than their class;
  - the nodes that fit new Pods, and those that no longer do.
Policies act only at admission: applying the files changes no workload. Of Tenants the report has the effective classes
and the condition AffinityClassesCompliant.

The command finds the hub as kubectl does. With --hub it reads the hub from files, as placement simulate does. The user needs
the verb list:
  - for Placements, on managedclusters, managedclustersets, addonplacementscores and placementdecisions, and on placements
    and managedclustersetbindings in the namespaces of the files. Of placements and placementdecisions, those of the APIs
    in the files are enough; then Balance and Spread do not count the decisions of the other API, and a note reports that.
  - for policies, classes and Tenants, on all kinds of workloads, namespaces, nodes, podschedulingpolicies,
    clusterpodschedulingpolicies, affinityclasses, tenants and helmreleases (for PodSchedulingPolicies of one namespace,
    those in it), and get on other owners of Pods; no right on Placements.
  - for ClusterRequests and what decides about them, on clusterrequests, clusterrequestgrants, clusters, clusterproviders,
    purposes and traitequivalences.

For a user with fewer rights the hub compares objects of one namespace: Placements, delivered objects, PodSchedulingPolicies
and ClusterRequests that the user may get, create and update, and ManagedClusterSetBindings of sets that the user may also
bind. The command sends it the files with the bearer token of the user, as placement explain does. For PodSchedulingPolicies
it names 100 workloads that the user may list.

The exit code is 0 without a difference or drift, 1 with one, and 2 for an error, as that of kubectl diff. Errors are a
missing right, an object that admission would refuse, and a Placement without a result, because it has a mistake or a cluster
set is broken: it would keep its last decisions. The command still prints the report of the others.`

const diffExample = `  # Before kubectl apply, on the hub of the current context
  placement diff -f new-placement.yaml

  # A directory, another context, the names of the clusters that stay
  placement diff -f placements/ --context prod --show-kept

  # Does a Placement lose a cluster? Exit code 2 means that there is no result
  placement diff -f placements/ -o name > changes || [ $? = 1 ]
  grep ' -' changes

  # Which workloads does a policy change, which Pods would be refused, and which nodes remain?
  placement diff -f policy.yaml

  # How many Clusters does another limit of a Purpose save, and which requests would be granted?
  placement diff -f purpose.yaml

  # What would kubectl replace, or kubectl apply --server-side of a pipeline, change?
  placement diff -f new-placement.yaml --replace
  placement diff -f new-placement.yaml --server-side --field-manager ci

  # Against a hub in files; if it serves them, add {placements,placementdecisions}.placement.open-cluster-management.io
  kubectl get managedclusters,managedclustersets,managedclustersetbindings,addonplacementscores,placements,placementdecisions \
    -A -o yaml --show-managed-fields > hub.yaml
  placement diff -f new-placement.yaml --hub hub.yaml`

// diffOptions are the flags of the command.
type diffOptions struct {
	hubflags.Files
	hubflags.Settings
	hubflags.Ask
	hubflags.Labels
	hubflags.Writes

	files    []string
	hub      []string
	now      string
	output   string
	showKept bool
	// manifests are the contents of the files.
	manifests [][]byte
	// compared is what is compared, once the files were read.
	compared tools.DiffOptions
}

func newDiffCommand() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:     "diff -f FILE",
		Short:   "Report what would change if placements or policies were applied",
		Long:    diffLong,
		Example: diffExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			differs, err := o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			switch {
			case err != nil:
				return &exit.Error{Code: exit.NotCompared, Err: err}
			case differs:
				return &exit.Error{Code: exit.Differs}
			default:
				return nil
			}
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"File or directory with Placements, policies, classes and Tenants, or - for standard input. May be repeated.")
	flags.StringArrayVar(&o.hub, "hub", nil,
		"File or directory with the objects of the hub, or - for standard input, instead of a live hub. May be repeated.")
	flags.StringVar(&o.now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide (with --show-kept), json, yaml, or "+
			"name (one line \"namespace/name +cluster\" per difference; - for lost, ~ for moved; "+
			"@GROUP follows the name of placements of another API; of workloads \"namespace/name@kind ~field\" or +node, -node; of "+
			"ClusterRequests \"namespace/name@clusterrequest ~\").")
	o.AddLabels(flags, "objects in the files to compare")
	o.AddWrites(flags)
	flags.BoolVar(&o.showKept, "show-kept", false, "List the clusters that stay, instead of counting them.")
	o.Hub.RegisterCompletions(cmd, printers.WideFormats())
	return cmd
}

// run compares and prints.
func (o *diffOptions) run(ctx context.Context, stdin io.Reader, stdout io.Writer) (differs bool, err error) {
	if err := o.ParseKinds(); err != nil {
		return false, err
	}
	now, err := o.parse()
	if err != nil {
		return false, exit.Mistake(err)
	}
	if hubflags.TakeWide(&o.output) {
		o.showKept = true
	}
	o.compared.Settings, o.compared.Writes.Chosen = o.HubSettings(), o.Chosen()
	o.compared.Writes.Review = admission.NewReviewer(ctx, hubflags.Definitions.Policies)
	config, namespace, err := o.findHub()
	if err != nil {
		return false, err
	}
	changes, err := o.readChanges(namespace, stdin)
	if err != nil {
		return false, err
	}
	given, err := changes.State()
	if err != nil {
		return false, err
	}
	if changes.SkippedAll() {
		return false, o.print(stdout, explain.Differences{Now: metav1.NewTime(o.TimeOf(now, o.now)), Placements: []explain.Difference{}})
	}
	if !o.compared.Changes(given) {
		return false, fmt.Errorf("there is no Placement%s in %s, and no scheduling policy, AffinityClass, Tenant, Namespace, object that is "+
			"delivered or ClusterRequest, so there is nothing to compare: add one with -f", o.Described(), strings.Join(o.files, ", "))
	}
	hub, unread, err := o.readState(ctx, config, changes, given, stdin)
	if err != nil {
		if config == nil {
			return false, err
		}
		answer, err := hubflags.AskUnread(err, func() (endpoint.Answer, error) { return o.ask(ctx, config, given) })
		if answer == nil {
			return false, err
		}
		return answer.Differs, hubflags.WriteAnswer(stdout, answer, err)
	}
	differences, err := o.compared.Compare(hub, given, changes, o.TimeOf(now, o.now))
	if err := errors.Join(err, o.Note(changes.ReviewNotes())); err != nil {
		return false, err
	}
	if err := o.print(stdout, differences); err != nil {
		return false, err
	}
	return differences.Differ(), errors.Join(tools.Unresolved(&differences), unread)
}

func (o *diffOptions) print(stdout io.Writer, differences explain.Differences) error {
	return printers.Print(stdout, printers.Format(o.output), differences, answers.DifferenceStyle(o.showKept))
}

// parse parses the flags. Its errors are usage errors.
func (o *diffOptions) parse() (now time.Time, err error) {
	if now, err = hubflags.ParseNow(o.now); err != nil {
		return now, err
	}
	if err := errors.Join(o.ParseLabels(), o.CheckSettings(), o.CheckWrites()); err != nil {
		return now, err
	}
	inputs := slices.Concat(o.files, o.hub)
	first := slices.Index(inputs, hubflags.StdinName)
	switch {
	case len(o.files) == 0:
		return now, errors.New("--filename: give at least one file, directory, or - for standard input")
	case first >= 0 && slices.Contains(inputs[first+1:], hubflags.StdinName):
		return now, errors.New("--filename, --hub: standard input (-) can be read only once; name it once")
	case len(o.hub) > 0 && o.Connects() != "":
		return now, fmt.Errorf("--hub: the hub is read from files, so %s means nothing; leave out one or the other", o.Connects())
	case !slices.Contains(printers.WideFormats(), printers.Format(o.output)):
		return now, fmt.Errorf("--output: unknown format %q; use one of %v", o.output, printers.WideFormats())
	}
	return now, nil
}

// findHub returns the connection to the hub, nil with --hub, and the default namespace of the files.
func (o *diffOptions) findHub() (config *rest.Config, namespace statefile.Namespace, err error) {
	namespace = statefile.Namespace{Name: o.Namespace, Enforced: o.Namespace != ""}
	if len(o.hub) > 0 {
		namespace.Name, err = o.FileNamespace()
		return nil, namespace, err
	}
	if config, namespace.Name, err = o.Find(); err != nil {
		return nil, namespace, err
	}
	// Its writes with dryRun=All get the warnings that the user would get.
	config.WarningHandler = rest.NewWarningWriter(o.Stderr, rest.WarningWriterOptions{Deduplicate: true})
	return config, namespace, nil
}

func (o *diffOptions) readChanges(namespace statefile.Namespace, stdin io.Reader) (*statefile.ChangeReader, error) {
	changes, err := hubflags.Definitions.ChangeReader(namespace, o.Delivered)
	if err != nil {
		return nil, err
	}
	changes.Select(o.Selector)
	changes.Strict(o.Strict)
	take := func(name string, content []byte) {
		o.manifests = append(o.manifests, content)
		changes.Read(name, content)
	}
	if err := hubflags.ReadPaths("--filename", o.files, stdin, take); err != nil {
		return nil, err
	}
	return changes, o.Note(changes.Notes())
}

// readState reads what is compared from the hub or from files. unread says which rights are missing for all that decides about Pods.
func (o *diffOptions) readState(
	ctx context.Context, config *rest.Config, changes *statefile.ChangeReader, given *explain.State, stdin io.Reader,
) (state *explain.State, unread, err error) {
	if len(o.hub) > 0 {
		o.Compared = changes
		if state, err = o.ReadHub(ctx, statefile.Stored, o.Delivered, "--hub", o.hub, stdin); err == nil {
			o.compared.Controllers, o.compared.Writes.Asked = o.ControllersTaken(), o.Live
			o.compared.Writes.Vocabulary = hubflags.Vocabulary
			o.compared.Effects, err = tools.FileNamespaceEffects(changes, o.compared.Writes, given, state)
		}
		return state, nil, err
	}
	hub, err := hubflags.Connect(config)
	if err != nil {
		return nil, nil, err
	}
	if o.compared.Controllers, err = o.Controllers(ctx, hub); err != nil {
		return nil, nil, err
	}
	if o.compared.Effects, err = tools.ReadNamespaceEffects(ctx, hub, changes, o.compared.Writes, given); err != nil {
		return nil, nil, err
	}
	if state, unread, err = o.compared.Read(ctx, hub, given); err != nil {
		return nil, nil, err
	}
	return state, unread, o.compared.Ask(ctx, hub, changes)
}

// ask sends the files to the hub. The error is an *endpoint.AnswerError if the hub has answered with it.
func (o *diffOptions) ask(ctx context.Context, config *rest.Config, given *explain.State) (endpoint.Answer, error) {
	switch {
	case o.now != "":
		return endpoint.Answer{}, errors.New("the hub compares with the present, so it was not asked because of --now")
	case o.Selector != nil:
		return endpoint.Answer{}, hubflags.ErrSelectorUnread
	}
	namespace, objects, err := tools.ObjectsToCompare(given, o.Delivered)
	if err != nil {
		return endpoint.Answer{}, err
	}
	hub, err := hubflags.Connect(config)
	if err != nil {
		return endpoint.Answer{}, err
	}
	question := endpoint.Question{
		Command: endpoint.CommandDiff, Namespace: namespace, Objects: objects, Output: o.output, ShowKept: o.showKept,
		Manifests: string(bytes.Join(o.manifests, []byte("\n---\n"))),
	}
	chosen := o.Chosen()
	question.Write, question.FieldManager, question.ForceConflicts = string(chosen.Method), chosen.FieldManager, chosen.Force
	if err := tools.AddListable(ctx, hub, given, o.Delivered, &question); err != nil {
		return endpoint.Answer{}, err
	}
	return o.Send(ctx, hub, config, question)
}
