// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
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

// federatedOptions are the flags of the command.
type federatedOptions struct {
	fileFlags
	kindFlags
	labelFlag
	askFlags

	files         []string
	now           string
	output        string
	allNamespaces bool
	watch         bool
	hubLimit      removalbudget.Limit
	// hubControllers are those that the hub says it runs; nil if it says nothing, and for files.
	hubControllers []string
}

func newFederatedCommand() *cobra.Command {
	var o federatedOptions
	cmd := &cobra.Command{
		Use:               "federated [TYPE/NAME]",
		Short:             "Show where objects are delivered, and why",
		Long:              federatedLong,
		Example:           federatedExample,
		ValidArgsFunction: o.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	o.addFiles(cmd)
	o.addKinds(flags)
	o.addAsk(flags)
	flags.Lookup("namespace").Usage = "Namespace of the objects, and of objects in files without one. Default: the namespace of the context; " +
		"with -f the report has all."
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"File or directory with the objects of the hub, or - for standard input, instead of a live hub. May be repeated.")
	flags.StringVar(&o.now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide, json, yaml, or name (one line \"namespace/name@kind cluster\" per selected cluster).")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the objects of all namespaces that take part.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Print again whenever the report changes, until Ctrl-C.")
	o.addLabels(flags, "objects to list")
	addHubBudgetFlags(flags, &o.hubLimit)
	o.registerCompletions(cmd, printers.WideFormats())
	return cmd
}

func (o *federatedOptions) run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if err := o.parseKinds(); err != nil {
		return err
	}
	now, names, err := o.parse(args)
	if err != nil {
		return &usageError{err}
	}
	if o.watch {
		return o.printChanges(ctx, names, stdout)
	}
	from, state, unread, err := o.read(ctx, stdin)
	if err != nil {
		return err
	}
	if from != nil && apierrors.IsForbidden(unread) {
		from.color = colored(stdout)
		text, err := o.ask(ctx, from, names)
		if endpoint.Answered(err) {
			return writeAnswer(stdout, text, unread, err)
		}
		unread = endpoint.Unanswered(unread, err)
	}
	namespace := o.namespace
	if from != nil {
		namespace = from.namespace
	}
	return o.print(state, names, namespace, unread, o.timeOf(now, o.now), stdout)
}

// print prints the reports of the named objects, or without names of all objects of the namespace. unread says which rights are missing.
func (o *federatedOptions) print(
	state *explain.State, names []deliveredName, namespace string, unread error, now time.Time, stdout io.Writer,
) error {
	keys, missing := keysOf(state, names, namespace)
	if missing != nil && len(keys) == 0 {
		return errors.Join(missing, unread)
	}
	reports := o.reports(state, keys, namespace, unread, now)
	return errors.Join(printers.Print(stdout, printers.Format(o.output), reports, o.style(keys, stdout)), missing, unread)
}

// style returns the style for the reports of the named objects, or without names of all objects.
func (o *federatedOptions) style(keys []inventory.Key, stdout io.Writer) printers.Style {
	options := document.Options{Scores: len(keys) > 0, Wide: printers.Format(o.output) == printers.FormatWide}
	return printers.Style{Options: options, Color: colored(stdout), Width: widthOf(stdout)}
}

// reports returns the reports of the named objects, or without names of all objects of the namespace. With missing rights they are those of
// what the hub has written.
func (o *federatedOptions) reports(state *explain.State, keys []inventory.Key, namespace string, unread error, now time.Time) federated.Reports {
	filter := explain.ObjectFilter{Wanted: tools.WantedKeys(keys), Named: len(keys) > 0}
	if len(keys) == 0 {
		filter.Wanted = o.objects(state, o.kindFlags)
	}
	state.Controllers = o.hubControllers
	state.Federated.Limit = o.hubLimit
	var reports federated.Reports
	if unread != nil && apierrors.IsForbidden(unread) {
		reports = state.ReportWrittenObjects(filter, now)
	} else {
		reports = state.ReportObjects(filter, printers.Format(o.output) == printers.FormatWide, now)
	}
	tools.SortByKeys(reports.Objects, keys, func(report federated.Report) inventory.Key { return report.Key })
	if namespace != "" {
		reports.Objects = slices.DeleteFunc(reports.Objects, func(report federated.Report) bool { return report.Namespace != namespace })
	}
	return reports
}

func (o *federatedOptions) parse(args []string) (now time.Time, names []deliveredName, err error) {
	if now, err = parseNow(o.now); err != nil {
		return now, nil, err
	}
	switch {
	case !slices.Contains(printers.WideFormats(), printers.Format(o.output)):
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.output, printers.WideFormats())
	case o.allNamespaces && o.namespace != "":
		return now, nil, errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other")
	case o.text != "" && len(args) > 0:
		return now, nil, fmt.Errorf("--selector lists objects, so naming %q means nothing; leave out one or the other", args[0])
	case o.allNamespaces && len(args) > 0:
		return now, nil, fmt.Errorf("--all-namespaces lists objects, so naming %q means nothing; leave out one or the other", args[0])
	}
	if err := errors.Join(o.parseLabels(), o.checkHub()); err != nil {
		return now, nil, err
	}
	names, err = o.parseObjects(args)
	if err == nil && len(names) == 0 && len(args) > 0 {
		typed, _, _ := strings.Cut(args[0], "/")
		err = fmt.Errorf("%q names no object that is delivered: write TYPE/NAME, where TYPE is one of %s%s", args[0],
			strings.Join(o.objectTypes(), ", "), didYouMean(typed, "", o.objectTypes()))
	}
	return now, names, err
}

// checkHub reports flags that contradict the origin of the state.
func (o *federatedOptions) checkHub() error {
	return o.checkSource(o.files, o.watch, o.now)
}

// federatedSource is the hub that the state is from.
type federatedSource struct {
	hub    client.Client
	config *rest.Config
	// namespace is that of the objects; empty for all.
	namespace string
	// color adds terminal colours to the tables of the hub.
	color bool
}

// read reads the state from files, from which there is no source, or from the hub. unread says which rights are missing.
func (o *federatedOptions) read(ctx context.Context, stdin io.Reader) (from *federatedSource, state *explain.State, unread, err error) {
	if len(o.files) > 0 {
		state, err := o.readHub(ctx, statefile.Described, o.delivered, "--filename", o.files, stdin)
		o.hubControllers = o.controllersTaken()
		return nil, state, nil, err
	}
	if from, err = o.connectSource(ctx); err != nil {
		return nil, nil, nil, err
	}
	state, unread = hubstate.FederatedFromCluster(ctx, from.hub, from.namespace, o.delivered)
	if state == nil {
		return nil, nil, nil, unread
	}
	return from, state, unread, nil
}

// connectSource connects to the hub.
func (o *federatedOptions) connectSource(ctx context.Context) (*federatedSource, error) {
	hub, config, namespace, err := o.connectHub()
	if err == nil {
		o.hubControllers, err = o.controllers(ctx, hub)
	}
	if o.allNamespaces {
		namespace = ""
	}
	return &federatedSource{hub: hub, config: config, namespace: namespace}, err
}

// deliveredName is an object of a kind that is delivered, as named on the command line.
type deliveredName = objectName[federation.FederatedKind]

// parseObjects parses names of delivered objects as kubectl does, TYPE/NAME and TYPE NAME. The result is nil if the arguments name none.
func (f *kindFlags) parseObjects(args []string) ([]deliveredName, error) {
	return namedKinds[federation.FederatedKind]{
		find: func(text string) (federation.FederatedKind, string, bool) {
			kind, is := federated.FindKind(f.delivered, text)
			return kind, kind.Kind, is
		},
		alone: "name objects as TYPE/NAME, and nothing else in one command",
	}.parse(args)
}

// keysOf returns the keys of the named objects, and an error about those that there are not; without a namespace there must be one object of the
// name.
func keysOf(state *explain.State, names []deliveredName, namespace string) (keys []inventory.Key, missing error) {
	for _, named := range names {
		var namespaces, names []string
		for _, object := range state.Federated.Objects {
			if object.GroupVersionKind() == named.kind.GroupVersionKind && (namespace == "" || namespace == object.GetNamespace()) {
				names = append(names, object.GetName())
			}
			if object.GroupVersionKind() == named.kind.GroupVersionKind && object.GetName() == named.name &&
				(namespace == "" || namespace == object.GetNamespace()) {
				namespaces = append(namespaces, object.GetNamespace())
			}
		}
		slices.Sort(namespaces)
		switch {
		case len(namespaces) == 1:
			keys = append(keys, federated.Key(named.kind, namespaces[0], named.name))
		case len(namespaces) > 1:
			missing = errors.Join(missing, fmt.Errorf("there is a %s %s in each of the namespaces %s: choose one with -n",
				named.kind.Kind, named.name, strings.Join(namespaces, ", ")))
		case slices.Contains(state.Federated.KindsUnread, named.kind.Kind):
			missing = errors.Join(missing, fmt.Errorf("this user may not list the %s of namespace %s; ask for the verb list on them",
				named.kind.Resource, namespace))
		default:
			missing = errors.Join(missing, fmt.Errorf("there is no %s %s; correct the name or the namespace%s", named.kind.Kind, named.name,
				didYouMean(named.name, strings.ToLower(named.kind.Kind)+"/", names)))
		}
	}
	return keys, missing
}
