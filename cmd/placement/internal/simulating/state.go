// SPDX-License-Identifier: Apache-2.0

package simulating

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
)

// live reports whether the State is read from a running hub.
func (o *Options) live() bool { return len(o.HubPaths) == 0 && (len(o.Paths) == 0 || o.Adding) }

// place names the origin of the State for messages.
func (o *Options) place() string {
	if o.live() {
		return "on the hub"
	}
	return "in the files"
}

// simulated is what is evaluated.
type simulated struct {
	state   *explain.State
	changes []whatif.Change
	// additions are the added objects that no Placement depends on.
	additions []*tools.Addition
}

// read reads the State, and the changes.
func (o *Options) read(ctx context.Context, stdin io.Reader) (*simulated, error) {
	role := statefile.Described
	if o.Adding {
		role = statefile.Applied
	}
	given, err := o.Reader(role, o.Delivered)
	if err != nil {
		return nil, err
	}
	take := func(name string, content []byte) {
		o.manifests = append(o.manifests, content)
		given.Read(name, content)
	}
	if err := hubflags.ReadPaths("--filename", o.Paths, stdin, take); err != nil {
		return nil, err
	}
	additions, err := readAdditions(given, o.Adding)
	if err := errors.Join(err, o.Note(given.Notes())); err != nil {
		return nil, err
	}
	o.added = additions
	in := &simulated{changes: o.with(additions)}
	if in.state, err = o.readState(ctx, given, len(in.changes) == 0 && o.Adding, stdin); err != nil {
		return nil, err
	}
	for _, each := range tools.With[tools.Simulator]() {
		if !additions.Has(each.Adds()) {
			continue
		}
		added, err := o.readAddition(ctx, each, additions, in.state)
		if err != nil {
			return nil, err
		}
		in.additions = append(in.additions, added)
	}
	if !o.Adding {
		return in, nil
	}
	hubs := []*explain.State{in.state}
	for _, added := range in.additions {
		hubs = append(hubs, added.Hub)
	}
	return in, o.Review(ctx, given, hubs...)
}

// readAddition reads what objects are added to.
func (o *Options) readAddition(ctx context.Context, of tools.Simulator, given, state *explain.State) (*tools.Addition, error) {
	added := &tools.Addition{System: of, Given: given, Hub: state}
	if o.live() {
		hub, _, _, err := o.ConnectHub()
		if err != nil {
			return nil, err
		}
		if added.Hub, added.Unread, err = of.ReadHub(ctx, hub, o.reported()); err != nil {
			return nil, err
		}
	}
	settings := o.HubSettings()
	settings.Configure(added.Hub)
	return added, nil
}

// readState reads the State of the live hub or of files. independent reports that only objects are added that no Placement depends on, such as
// workloads and ClusterRequests; then the State of a live hub is not read, and empty.
func (o *Options) readState(ctx context.Context, given *statefile.Reader, independent bool, stdin io.Reader) (*explain.State, error) {
	if o.live() && independent {
		return &explain.State{}, nil
	}
	if o.live() {
		return o.readLive(ctx)
	}
	if len(o.HubPaths) > 0 {
		state, err := o.ReadHub(ctx, statefile.Stored, o.Delivered, "--hub", o.HubPaths, stdin)
		if err != nil {
			return nil, err
		}
		o.HubControllers = o.ControllersTaken()
		return state, o.warnNamespace(state)
	}
	state, err := given.State()
	o.Taken = given.Snapshot()
	o.HubControllers = o.ControllersTaken()
	if err != nil {
		return nil, exit.InFiles(err)
	}
	return state, errors.Join(o.Review(ctx, given), o.warnNamespace(state))
}

// warnNamespace warns of the end of --namespace as a selection if it leaves out objects of files.
func (o *Options) warnNamespace(state *explain.State) error {
	if o.Namespace == "" || o.reported() != o.Namespace || o.OnlyNamespace != "" {
		return nil
	}
	var reports []metav1.Object
	for _, placement := range state.Placements {
		reports = append(reports, placement)
	}
	for _, object := range slices.Concat(state.Federated.Objects, state.Pods.Workloads) {
		reports = append(reports, object)
	}
	for _, request := range state.ClusterRequests.Requests {
		reports = append(reports, request)
	}
	if slices.ContainsFunc(reports, func(object metav1.Object) bool { return object.GetNamespace() != o.Namespace }) {
		return o.Note([]string{"warning: --namespace will be the namespace of objects without one alone, and select nothing in files any more; " +
			"write --only-namespace " + o.Namespace + " for this report, or -A for one of all namespaces"})
	}
	return nil
}

func (o *Options) readLive(ctx context.Context) (*explain.State, error) {
	hub, err := o.OpenHub(ctx, &o.Ask, o.Delivered)
	if err != nil {
		return nil, err
	}
	o.HubControllers = hub.Controllers
	state, err := hub.All(ctx, o.reported())
	if apierrors.IsForbidden(err) && o.reported() == "" {
		return nil, fmt.Errorf("%w, and --namespace says which one", err)
	}
	if err == nil && len(o.Placements) == 0 {
		err = hub.AddDelivery(ctx, state, o.reported())
	}
	return state, err
}

// readSelected reads the State and the changes, and returns the names of the Placements to evaluate, none for all.
func (o *Options) readSelected(
	ctx context.Context, names map[types.NamespacedName]bool, stdin io.Reader,
) (*simulated, map[types.NamespacedName]bool, error) {
	in, err := o.read(ctx, stdin)
	if err != nil {
		return nil, nil, err
	}
	names, err = o.selectNames(in.state, names)
	return in, names, err
}

// selectNames returns the names of the Placements that --selector selects, or else those given.
func (o *Options) selectNames(
	state *explain.State, names map[types.NamespacedName]bool,
) (map[types.NamespacedName]bool, error) {
	if o.Selector == nil {
		return names, nil
	}
	names = o.Labels.Placements(state)
	maps.DeleteFunc(names, func(name types.NamespacedName, _ bool) bool {
		return o.reported() != "" && o.reported() != name.Namespace
	})
	if len(names) == 0 {
		return nil, fmt.Errorf("--selector: no Placement %s has the labels %s; correct the selector", o.place(), o.Text)
	}
	for name := range names {
		o.Placements = append(o.Placements, name.String())
	}
	return names, nil
}

// ParsePlacements parses the flag --placement.
func ParsePlacements(texts []string) (map[types.NamespacedName]bool, error) {
	wanted := make(map[types.NamespacedName]bool, len(texts))
	for _, text := range texts {
		namespace, name, _ := strings.Cut(text, "/")
		if namespace == "" || name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("--placement: %q is not of the form namespace/name", text)
		}
		wanted[types.NamespacedName{Namespace: namespace, Name: name}] = true
	}
	return wanted, nil
}

// checkWanted returns an error about requested Placements that do not exist: an empty output would look like "selects nothing". some reports that
// there is something to report.
func (o *Options) checkWanted(
	state *explain.State, wanted map[types.NamespacedName]bool, reported *tools.ReportOptions,
) (some bool, err error) {
	missing := maps.Clone(wanted)
	var found []string
	for _, placement := range state.Placements {
		if o.reported() == "" || o.reported() == placement.GetNamespace() {
			name := types.NamespacedName{Namespace: placement.GetNamespace(), Name: placement.GetName()}
			found = append(found, name.String())
			delete(missing, name)
		}
	}
	switch {
	case (len(found) == 0 || len(missing) > 0) && reported.ReportsOthers(state):
		return true, nil
	case len(found) == 0 && o.reported() != "":
		return false, fmt.Errorf("there is no Placement %s in namespace %s, so there is nothing to evaluate: correct the namespace",
			o.place(), o.reported())
	case len(found) == 0 && o.live():
		return false, errors.New("there is no Placement on the hub, so there is nothing to evaluate: name another hub, or files with -f")
	case len(found) == 0:
		return false, errors.New("there is no Placement, no workload, no ClusterRequest and no object that is delivered in the files, so there is " +
			"nothing to evaluate: add one with -f")
	case len(missing) == 0:
		return true, nil
	}
	names := make([]string, 0, len(missing))
	for key := range missing {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return len(missing) < len(wanted), fmt.Errorf("--placement: there is no Placement %s %s; correct the name%s",
		strings.Join(names, ", "), o.place(), suggest.DidYouMean(names[0], "", found))
}
