package placement

import (
	"context"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/controller/comparer"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// evaluate answers a request, and watched does so while a stopwatch is told of the steps.
type (
	evaluate func(
		request *scheduling.Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time,
	) *scheduling.Result
	watched func(
		request *scheduling.Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time, watch scheduling.Recorder,
	) *scheduling.Result
)

// engine is how placements are evaluated, and what that is checked with.
type engine struct {
	// schedule is the engine itself, and reference the straightforward one, which answers the same.
	schedule  watched
	reference evaluate
	// difference says how two answers differ; empty when they do not.
	difference func(schedule, reference *scheduling.Result) string
	// rebuild makes anew what the engine keeps.
	rebuild func()
}

func newEngine(inv *inventory.Inventory) engine {
	return engine{schedule: scheduling.ScheduleRecorded, reference: scheduling.Reference, difference: scheduling.Difference, rebuild: inv.Rebuild}
}

// comparer checks the engine against the reference.
func (r *reconciler) comparer() *comparer.Comparer {
	return &comparer.Comparer{
		Placements: r.requests.keys, Compare: r.compare, Diverged: r.diverged, Busy: r.queue.Busy,
	}
}

// compare evaluates a placement with both engines. It writes nothing: what is not as it was at the last evaluation is left to the next one.
func (r *reconciler) compare(ctx context.Context, key inventory.PlacementKey) (difference string, compared bool, err error) {
	if !r.synced.Load() {
		return "", false, nil
	}

	placement, err := r.placement(ctx, key)
	if err != nil {
		return "", false, err
	}

	if placement == nil || !managed(placement) {
		if r.requests.remembers(key) {
			r.enqueue(queue.PriorityRecheck, "comparison", key) // It should have been forgotten.
		}

		return "", false, nil
	}

	request := r.requests.known(placement)
	if request == nil {
		return "", false, nil
	}

	present, err := r.present(ctx, placement.API.Form(), placement)
	if err != nil {
		return "", false, err
	}

	incumbents, snapshot, now := present.Incumbents(), r.inventory.Snapshot(key), r.clock.Now()
	is := r.engine.schedule(request, snapshot, incumbents, now, scheduling.NopRecorder)
	want := r.engine.reference(request, snapshot, incumbents, now)

	return r.engine.difference(is, want), true, nil
}

// diverged mends what the engine keeps. All other answers of it are in doubt, too.
func (r *reconciler) diverged(key inventory.PlacementKey) {
	r.engine.rebuild()
	r.enqueue(queue.PriorityUser, "divergence", key)

	others := slices.DeleteFunc(r.requests.keys(), func(other inventory.PlacementKey) bool { return other == key })
	r.enqueue(queue.PriorityRecheck, "divergence", others...)
}
