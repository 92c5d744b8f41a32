package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/overlay"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const simulateLong = `simulate evaluates every Placement in the given files against the ManagedClusters, ManagedClusterSets,
ManagedClusterSetBindings and AddOnPlacementScores in them, with the very code of the controller and without an
API server, and says for every cluster why it is selected or what keeps it out. ServiceAccounts named placement,
ClusterRoles and ClusterRoleBindings bind sets as the controller clustersetbinding-rbac does.

The files hold YAML documents or JSON, single objects or lists, such as kubectl get -o yaml prints. They are read
as strictly as an API server would: unknown fields, wrong types and values that the CustomResourceDefinitions do
not allow are mistakes, and defaults are filled in. Namespaces, Roles and RoleBindings are ignored.

What simulate takes for granted:
  - The cluster sets "default" and "global" exist, as on every hub, unless the files define them.
  - A cluster is in an exclusive set by its label cluster.open-cluster-management.io/clusterset only. On a hub,
    admission puts clusters without that label into the set "default"; simulate does not: write the label.
  - A ClusterRole grants what its rules say; an aggregationRule in a file is not carried out.
  - PlacementDecisions in the files are the present decisions. Steady, NoSelectIfNew and misconfigured placements
    look at those of the placement itself, Balance at those of the others. Every placement sees the decisions as
    they are in the files, not what this run answers for other placements.

The exit code is 0 when everything was evaluated: unsatisfied and misconfigured are answers too. It is 1 when the
files have mistakes; all of them are listed, with file and line.`

const simulateExample = `  # Everything in a file, or in a directory (*.yaml, *.yml and *.json, not in its subdirectories)
  placement simulate -f world.yaml
  placement simulate -f deploy/samples

  # One placement of a live hub, with a change that is not applied yet
  kubectl get managedclusters,managedclustersets,managedclustersetbindings,addonplacementscores,placementdecisions \
    -A -o yaml | placement simulate -f - -f new-placement.yaml --placement team-a/rollout

  # The same answer today and tomorrow
  placement simulate -f world.yaml --now 2026-01-31T12:00:00Z -o json`

// simulateOptions are the flags of the command.
type simulateOptions struct {
	hubFlags
	changeFlags

	files      []string
	hub        []string
	placements []string
	now        string
	output     string
	all        bool
	showKept   bool
	exitCode   bool
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:     "simulate [-f FILE]",
		Short:   "Say what the placements of a hub or in files select and why, and what if something changed",
		Long:    simulateLong,
		Example: simulateExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			differs, err := o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			switch {
			case err != nil && o.exitCode:
				return &exitError{code: exitNotCompared, err: err}
			case err == nil && differs && o.exitCode:
				return &exitError{code: exitDiffers}
			default:
				return err
			}
		},
	}
	flags := cmd.Flags()
	o.hubFlags.add(flags)
	flags.Lookup("namespace").Usage = "Placements of this namespace only, and of a live hub no bindings of others. Default: all namespaces."
	o.changeFlags.add(flags)
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"File or directory with what the hub holds, or with --add what is added to it, or - for standard input. May be repeated. "+
			"Default: the live hub.")
	flags.StringArrayVar(&o.hub, "hub", nil,
		"File or directory with what the hub holds, or - for standard input, where -f names what is added. May be repeated.")
	flags.StringArrayVar(&o.placements, "placement", nil, "Placement to evaluate, as namespace/name. May be repeated. Default: all.")
	flags.StringVar(&o.now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the present time.")
	flags.StringVarP(&o.output, "output", "o", string(explain.FormatTable),
		"Output format: table, json, yaml, or name (one line \"namespace/name cluster\" per selected cluster, or with changes "+
			"\"namespace/name +cluster\" per difference, - for lost and ~ for moved; @GROUP follows the name of placements of another API).")
	flags.BoolVar(&o.all, "all", false, "List clusters out of scope too, instead of counting them.")
	flags.BoolVar(&o.showKept, "show-kept", false, "With changes: list the clusters that stay, instead of counting them.")
	flags.BoolVar(&o.exitCode, "exit-code", false,
		"With changes: exit with 1 if they make a difference, 0 if they make none, and 2 for an error, as git diff does.")
	return cmd
}

// run evaluates and prints. It reports whether the changes make a difference.
func (o *simulateOptions) run(ctx context.Context, stdin io.Reader, stdout io.Writer) (differs bool, err error) {
	now, names, err := o.parse()
	if err != nil {
		return false, &usageError{err}
	}
	world, changes, err := o.read(ctx, stdin)
	if err != nil {
		return false, err
	}
	if err := o.checkWanted(world, names); err != nil {
		return false, err
	}
	wanted := func(key inventory.PlacementKey) bool {
		return (len(names) == 0 || names[key.NamespacedName]) && (o.namespace == "" || o.namespace == key.Namespace)
	}
	if len(changes) > 0 {
		return o.whatIf(stdout, world, changes, wanted, now)
	}
	reports := explain.Reports{Now: metav1.NewTime(now), Placements: []explain.Report{}}
	for _, evaluation := range world.Evaluate(now, wanted) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, o.all))
	}
	return false, explain.Write(stdout, explain.Format(o.output), reports)
}

// whatIf prints what the changes would make of the decisions.
func (o *simulateOptions) whatIf(
	stdout io.Writer, world *explain.World, changes []overlay.Change, wanted func(inventory.PlacementKey) bool, now time.Time,
) (differs bool, err error) {
	after, err := overlay.Apply(world, now, changes...)
	if err != nil {
		return false, err
	}
	whatIf := explain.NewWhatIf(world, after, wanted, now)
	for _, change := range changes {
		whatIf.Changes = append(whatIf.Changes, change.String())
	}
	return whatIf.Differs(), explain.WriteWhatIf(stdout, explain.Format(o.output), whatIf, o.showKept)
}

// parse checks the flags: what it returns as an error is a mistake in the command line.
func (o *simulateOptions) parse() (now time.Time, wanted map[types.NamespacedName]bool, err error) {
	if now, err = parseNow(o.now); err != nil {
		return now, nil, err
	}
	inputs := slices.Concat(o.files, o.hub)
	first := slices.Index(inputs, stdinName)
	switch {
	case o.adding && len(o.files) == 0:
		return now, nil, errors.New("--add: name the files with the clusters that are added with -f")
	case !o.adding && len(o.files) > 0 && len(o.hub) > 0:
		return now, nil, errors.New("--filename, --hub: both name what the hub holds; leave out one, or say with --add that -f is added to it")
	case first >= 0 && slices.Contains(inputs[first+1:], stdinName):
		return now, nil, errors.New("--filename, --hub: standard input (-) can be read only once; name it once")
	case !o.live() && (o.kubeconfig != "" || o.context != ""):
		return now, nil, errors.New("--filename, --hub: what the hub holds is read from files, so --kubeconfig and --context mean nothing; " +
			"leave out one or the other")
	case !slices.Contains(explain.Formats(), explain.Format(o.output)):
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.output, explain.Formats())
	case len(o.changes) > 0 && o.all:
		return now, nil, errors.New("--all: a difference has no clusters out of scope; leave it out")
	case len(o.changes) == 0 && (o.exitCode || o.showKept):
		return now, nil, errors.New("--exit-code, --show-kept: they are of a difference; say what would change, by --drain, say")
	}
	wanted, err = parsePlacements(o.placements)
	return now, wanted, err
}

// parseNow reads the flag --now; without it the time is the present.
func parseNow(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return now, fmt.Errorf("--now: %q is no time such as 2026-01-31T12:00:00Z: %w", text, err)
	}
	return now, nil
}

// customResourceDefinitions are those that the hub installs.
func customResourceDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	objs, err := manifests.Objects()
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, obj := range objs {
		if obj.GetKind() != "CustomResourceDefinition" {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, crd); err != nil {
			return nil, fmt.Errorf("embedded CustomResourceDefinition %s: %w", obj.GetName(), err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}
