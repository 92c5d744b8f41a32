// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/comparer"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// evaluate computes a Result; watched does so and records the duration of each step.
type (
	evaluate func(
		request *scheduling.Request, snapshot *inventory.Snapshot, incumbents scheduling.Incumbents, now time.Time,
	) *scheduling.Result
	watched func(
		request *scheduling.Request, snapshot *inventory.Snapshot, incumbents scheduling.Incumbents, now time.Time, watch scheduling.Recorder,
	) *scheduling.Result
)

// engine is the scheduler, and the oracle that it is compared with.
type engine struct {
	// schedule is the indexed scheduler, and reference the naive one, which must return the same result.
	schedule  watched
	reference evaluate
	// difference describes how two results differ; it is empty when they do not.
	difference func(schedule, reference *scheduling.Result) string
	// rebuild derives the indexes of the inventory anew.
	rebuild func()
}

func newEngine(inv *inventory.Inventory) engine {
	return engine{schedule: scheduling.ScheduleRecorded, reference: scheduling.Reference, difference: scheduling.Difference, rebuild: inv.Rebuild}
}

// comparer compares the scheduler with the reference from time to time.
func (d *decider) comparer() *comparer.Comparer {
	return &comparer.Comparer{
		Placements: d.state.requests.keys, Compare: d.compare, Diverged: d.diverged, Busy: d.state.Queue.Busy,
	}
}

// compare evaluates a Placement with both schedulers, and writes nothing.
func (d *decider) compare(ctx context.Context, key inventory.Key) (difference string, compared bool, err error) {
	if !d.state.Synced.Load() {
		return "", false, nil
	}
	placement, err := d.placement(ctx, key)
	if err != nil {
		return "", false, err
	}

	if placement == nil || !managed(placement) {
		if d.state.requests.remembers(key) {
			d.state.Enqueue(queue.PriorityRecheck, "comparison", key) // It should have been forgotten.
		}
		return "", false, nil
	}
	request := d.state.requests.known(placement)
	if request == nil {
		return "", false, nil
	}

	existing, err := d.existing(ctx, placement.API.Codec(), placement)
	if err != nil {
		return "", false, err
	}
	now := d.state.clock.Now()
	incumbents := existing.IncumbentsFor(request, now)
	err = d.seated(ctx, key, func(yield func()) {
		snapshot := d.state.inventory.SnapshotFor(key).WithYield(yield)
		is := d.engine.schedule(request, snapshot, incumbents, now, scheduling.NopRecorder)
		want := d.engine.reference(request, snapshot, incumbents, now)
		difference = d.engine.difference(is, want)
	})
	return difference, err == nil, err
}

// diverged rebuilds the indexes after a difference was found, and enqueues all Placements, whose results may be wrong too.
func (d *decider) diverged(key inventory.Key) {
	d.engine.rebuild()
	d.state.Enqueue(queue.PriorityUser, "divergence", key)
	others := slices.DeleteFunc(d.state.requests.keys(), func(other inventory.Key) bool { return other == key })
	d.state.Enqueue(queue.PriorityRecheck, "divergence", others...)
}
