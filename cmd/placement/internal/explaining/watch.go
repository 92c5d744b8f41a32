// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/follow"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// placementWatch evaluates Placements from the caches of a watcher.
type placementWatch struct {
	*Options

	watcher   *hubstate.Watcher
	keys      []inventory.Key
	namespace string
}

// printChanges prints the output, and again whenever it changes, until ctx ends.
func (o *Options) printChanges(ctx context.Context, from *hubflags.Source, targets []objectnames.Placement, stdout io.Writer) error {
	w := &placementWatch{Options: o, namespace: o.listNamespace(from)}
	state, written, err := w.readOnce(ctx, from, targets)
	if err != nil {
		if written != nil {
			err = errors.Join(written.write(stdout, o), err)
		}
		return err
	}
	apis, namespaces := w.watchScope()
	if w.watcher, err = hubstate.NewWatcher(from.Config, state.Uncounted, namespaces...); err != nil {
		return err
	}
	printer := &follow.Printer{Watcher: w.watcher, Format: printers.Format(o.Output), Style: o.style(), Evaluate: w.evaluate}
	return printer.Follow(ctx, func(ctx context.Context) error { return w.watcher.Watch(ctx, apis) }, stdout)
}

// readOnce reads without a watch, to report missing rights and Placements. When a right is missing, the output that the hub has written
// comes with the error.
func (p *placementWatch) readOnce(ctx context.Context, from *hubflags.Source, targets []objectnames.Placement) (*explain.State, *output, error) {
	if p.All {
		state, err := from.All(ctx, p.namespace)
		if err != nil && p.Selector != nil {
			return nil, nil, hubflags.WatchRefused(err)
		}
		if err != nil {
			written, err := writtenUnsatisfied(ctx, from, p.namespace, time.Now(), hubflags.WatchRefused(err))
			return nil, written, err
		}
		return state, nil, nil
	}
	var err error
	if p.keys, err = objectnames.FindPlacements(ctx, from, targets, ObjectTypes()); err != nil {
		return nil, nil, err
	}
	state, err := from.Placements(ctx, p.keys)
	if err != nil {
		written, err := written(ctx, from, p.keys, time.Now(), hubflags.WatchRefused(err))
		return nil, written, err
	}
	return state, nil, nil
}

// watchScope returns the APIs whose Placements have to be watched, and the namespaces, none for all.
func (p *placementWatch) watchScope() (apis []api.Adapter, namespaces []string) {
	if p.All {
		if p.namespace != "" {
			namespaces = []string{p.namespace}
		}
		return api.Adapters(), namespaces
	}
	for _, adapter := range api.Adapters() {
		if slices.ContainsFunc(p.keys, func(key inventory.Key) bool { return key.API() == adapter.Name() }) {
			apis = append(apis, adapter)
		}
	}
	for _, key := range p.keys {
		namespaces = append(namespaces, key.Namespace)
	}
	slices.Sort(namespaces)
	return apis, slices.Compact(namespaces)
}

// evaluate computes the output from the caches of the watcher, and names the Placements that do not exist any more.
func (p *placementWatch) evaluate(ctx context.Context, now time.Time) (document.Source, []string, error) {
	if p.All {
		state, err := p.watcher.ReadAll(ctx, p.namespace)
		if err != nil {
			return nil, nil, err
		}
		return p.unsatisfiedIn(state, p.namespace, now), nil, nil
	}
	state, err := p.watcher.Read(ctx, p.keys)
	if err != nil {
		return nil, nil, err
	}
	found, err := p.explaining().Placements(state, p.keys, now)
	if err != nil {
		return nil, nil, err
	}
	return found, p.deleted(found), nil
}

// deleted returns the Placements that do not exist any more.
func (p *placementWatch) deleted(found *counterfactual.Explanations) []string {
	var gone []string
	for _, key := range p.keys {
		if !slices.ContainsFunc(found.Placements, func(explanation counterfactual.Explanation) bool { return explanation.Key == key }) {
			gone = append(gone, "Placement "+key.String())
		}
	}
	return gone
}
