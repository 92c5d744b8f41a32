// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// placementTool is the tool of Placements.
var placementTool = tool{
	family:  familyPlacements,
	explain: runPlacements,
	answer:  answerPlacements,
	changed: func(_ *diffOptions, given *explain.State) bool { return len(given.Placements) > 0 },
	read:    readPlacements, compare: comparePlacements, limit: limitPlacements, unresolved: unresolvedPlacements,
	report: reportPlacements,
}

// readPlacements reads what decides about the Placements of files, or about all of their namespace if the files change what is delivered.
func readPlacements(ctx context.Context, o *diffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	var read *explain.State
	switch {
	case o.effects.decidesDelivery(given):
		read, err = hubstate.AllFromCluster(ctx, hub, namespaceOf(given))
	case len(given.Placements) > 0:
		read, err = hubstate.FromCluster(ctx, hub, keysOfPlacements(given))
	default:
		return nil, nil
	}
	if err == nil {
		*state = *read
	}
	return nil, err
}

// keysOfPlacements returns the keys of the Placements of a State.
func keysOfPlacements(state *explain.State) []inventory.Key {
	keys := make([]inventory.Key, 0, len(state.Placements))
	for _, placement := range state.Placements {
		keys = append(keys, api.Read(placement).Key())
	}
	return keys
}

// comparePlacements compares the Placements that were applied.
func comparePlacements(_ *diffOptions, c *comparison, differences *explain.Differences) error {
	if len(c.given.Placements) == 0 {
		return nil
	}
	kept := make(map[inventory.Key][]string, len(c.applied))
	for _, one := range c.applied {
		if placement := api.Read(one.To); placement != nil {
			kept[placement.Key()] = one.Result.Kept
		}
	}
	wanted := func(key inventory.Key) bool { _, is := kept[key]; return is }
	*differences = explain.Diff(c.hub, c.after, wanted, c.now)
	for i := range differences.Placements {
		difference := &differences.Placements[i]
		if fields := kept[difference.Key]; len(fields) > 0 {
			difference.Notes = append(difference.Notes,
				"taken from the live Placement, as kubectl apply leaves what neither this file nor the last apply sets: "+strings.Join(fields, ", "))
		}
	}
	return nil
}

// unresolvedPlacements returns an error that names the Placements without a valid result.
func unresolvedPlacements(differences *explain.Differences) error {
	var errs []error
	for _, difference := range differences.Placements {
		if difference.Stalled != "" {
			errs = append(errs, fmt.Errorf("no answer for Placement %s, which would keep its last decisions if this were applied: %s",
				difference.Key, difference.Stalled))
		}
	}
	return errors.Join(errs...)
}

// limitPlacements adds notes on objects that follow the Placements, if the user may list none.
func limitPlacements(s *shownObjects, differences *explain.Differences, _ *endpoint.Question) {
	for i := range differences.Placements {
		if !s.delivered {
			differences.Placements[i].Notes = append(differences.Placements[i].Notes, followersUnread)
		}
	}
}

// reportPlacements reports the Placements of a State.
func reportPlacements(o *simulateOptions, in *simulated, wanted wantedObjects, reports *explain.Reports) error {
	for _, evaluation := range in.state.Evaluate(reports.Now.Time, wanted.placement) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, o.all))
	}
	return nil
}

func answerPlacements(ctx context.Context, e *hubExplainer, o *explainOptions, question *endpoint.Question) (document.Source, error) {
	keys := make([]inventory.Key, 0, len(question.Objects))
	for _, object := range question.Objects {
		keys = append(keys, inventory.NewPlacementKey(inventory.API(object.Group), question.Namespace, object.Name))
	}
	state, err := hubstate.FromCluster(ctx, e.hub, keys)
	if err != nil {
		return nil, err
	}
	state.SetsHidden, state.Done = o.limited, ctx.Done()
	for _, key := range keys {
		if !slices.ContainsFunc(state.Placements, func(placement api.Object) bool { return api.Read(placement).Key() == key }) {
			return nil, &endpoint.AnswerError{Err: fmt.Errorf("there is no Placement %s; correct the name or the namespace", key)}
		}
	}
	now := e.now()
	state.Limit = o.hubLimit
	evaluations, err := e.evaluate(ctx, state, keys, now)
	if err != nil {
		return nil, err
	}
	found, err := o.explainEvaluations(state, evaluations, now)
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	return found, nil
}

// evaluate evaluates Placements of a State. With the inventory of this process it costs what the Placements do, and no inventory of the fleet is
// made; it may see a change some milliseconds before the State does.
func (e *hubExplainer) evaluate(
	ctx context.Context, state *explain.State, keys []inventory.Key, now time.Time,
) ([]explain.Evaluation, error) {
	unserved := func(key inventory.Key) bool { return !e.live.Serves(api.Of(key)) }
	if e.live == nil || slices.ContainsFunc(keys, unserved) || !e.live.Synced() {
		return state.Evaluate(now, func(key inventory.Key) bool { return slices.Contains(keys, key) }), nil
	}
	compiler, snapshot := selector.NewCompiler(), e.live.Snapshot().WithDone(state.Done)
	evaluations := make([]explain.Evaluation, 0, len(keys))
	for _, object := range state.Placements {
		placement := api.Read(object)
		if !slices.Contains(keys, placement.Key()) {
			continue
		}
		existing, err := e.live.Present(ctx, placement)
		if err != nil {
			return nil, fmt.Errorf("reading the decisions of Placement %s: %w", placement.Key(), err)
		}
		evaluations = append(evaluations, explain.Evaluate(placement.Request(compiler), snapshot, existing, e.live.Options(), now))
	}
	slices.SortFunc(evaluations, func(a, b explain.Evaluation) int {
		return cmp.Compare(a.Placement.Key().String(), b.Placement.Key().String())
	})
	return evaluations, nil
}
