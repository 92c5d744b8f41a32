package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/worldfile"
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
	files      []string
	placements []string
	now        string
	output     string
	all        bool
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:     "simulate -f FILE",
		Short:   "Say what the placements in files select and why, without an API server",
		Long:    simulateLong,
		Example: simulateExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "File or directory to read, or - for standard input. May be repeated.")
	flags.StringArrayVar(&o.placements, "placement", nil, "Placement to evaluate, as namespace/name. May be repeated. Default: all.")
	flags.StringVar(&o.now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the present time.")
	flags.StringVarP(&o.output, "output", "o", string(explain.FormatTable),
		"Output format: table, json, yaml, or name (one line \"namespace/name cluster\" per selected cluster; "+
			"@GROUP follows the name of placements of another API).")
	flags.BoolVar(&o.all, "all", false, "List clusters out of scope too, instead of counting them.")
	return cmd
}

func (o *simulateOptions) run(cmd *cobra.Command) error {
	now, wanted, err := o.parse()
	if err != nil {
		return &usageError{err}
	}
	crds, err := customResourceDefinitions()
	if err != nil {
		return err
	}
	reader, err := worldfile.NewReader(crds)
	if err != nil {
		return err
	}
	if err := readWorldFiles(o.files, cmd.InOrStdin(), reader.Read); err != nil {
		return err
	}
	world, err := reader.World()
	if err != nil {
		return err
	}
	if err := checkWanted(world, wanted); err != nil {
		return err
	}
	reports := explain.Reports{Now: metav1.NewTime(now), Placements: []explain.Report{}}
	for _, evaluation := range world.Evaluate(now, func(key inventory.PlacementKey) bool {
		return len(wanted) == 0 || wanted[key.NamespacedName]
	}) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, o.all))
	}
	return explain.Write(cmd.OutOrStdout(), explain.Format(o.output), reports)
}

// parse checks the flags: what it returns as an error is a mistake in the command line.
func (o *simulateOptions) parse() (now time.Time, wanted map[types.NamespacedName]bool, err error) {
	if now, err = parseNow(o.now); err != nil {
		return now, nil, err
	}
	if len(o.files) == 0 {
		return now, nil, errors.New("--filename: give at least one file, directory, or - for standard input")
	}
	if first := slices.Index(o.files, stdinName); first >= 0 && slices.Contains(o.files[first+1:], stdinName) {
		return now, nil, errors.New("--filename: standard input (-) can be read only once; name it once")
	}
	if !slices.Contains(explain.Formats(), explain.Format(o.output)) {
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.output, explain.Formats())
	}
	wanted = make(map[types.NamespacedName]bool, len(o.placements))
	for _, text := range o.placements {
		namespace, name, _ := strings.Cut(text, "/")
		if namespace == "" || name == "" || strings.Contains(name, "/") {
			return now, nil, fmt.Errorf("--placement: %q is not of the form namespace/name", text)
		}
		wanted[types.NamespacedName{Namespace: namespace, Name: name}] = true
	}
	return now, wanted, nil
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

// checkWanted reports placements that were asked for and are not there: an empty answer would look like "selects nothing".
func checkWanted(world *explain.World, wanted map[types.NamespacedName]bool) error {
	if len(world.Placements) == 0 {
		return errors.New("there is no Placement in the files, so there is nothing to evaluate: add one with -f")
	}
	missing := maps.Clone(wanted)
	for _, placement := range world.Placements {
		delete(missing, types.NamespacedName{Namespace: placement.GetNamespace(), Name: placement.GetName()})
	}
	if len(missing) == 0 {
		return nil
	}
	names := make([]string, 0, len(missing))
	for key := range missing {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return fmt.Errorf("--placement: the files have no Placement %s; correct the name, or add the file with -f", strings.Join(names, ", "))
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
