// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"sync"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Schedule evaluates the Request on a Snapshot for the incumbents of the Placement; now is the time of the evaluation. Request, Snapshot and
// incumbents must not be modified while the Result is used.
func Schedule(request *Request, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time) *Result {
	return ScheduleRecorded(request, snapshot, incumbents, now, NopRecorder)
}

// ScheduleRecorded is Schedule with a Recorder of the steps.
func ScheduleRecorded(
	request *Request, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time, recorder Recorder,
) *Result {
	return incumbents.scheduleFor(func(incumbents Incumbents) *Result {
		return scheduleRecorded(request, snapshot, incumbents, now, recorder)
	})
}

// scheduleRecorded is ScheduleRecorded in which a cluster that has left can displace one that is in the decisions.
func scheduleRecorded(
	request *Request, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time, recorder Recorder,
) *Result {
	e := newEvaluation(request, snapshot, incumbents, now)
	e.recorder = recorder
	if e.result.Outcome() != Decided {
		return e.result
	}
	runs := e.filter()
	if runs == nil {
		return e.endedResult()
	}

	left := runs[len(runs)-1].after
	e.result.Available = left.available
	e.result.stages.add(StageTerminating, left.terminating)

	c := e.newCandidates()
	c.clusters, c.avoid = left.clusters, left.avoid
	c.shared = func(about string, find func() []int64) []int64 {
		const perScore = 8
		return memoize(e, about+" "+left.removed, find, func(scores []int64) int { return len(scores) * perScore })
	}
	c.domains = func(key clusterinfo.Property) *domains {
		return memoize(e, "domains of "+left.removed+" "+key.String(), func() *domains { return c.findDomains(key) }, (*domains).bytes)
	}
	c.available = func(yield func(*clusterinfo.ClusterInfo) bool) {
		candidates, _ := snapshot.Candidates(e.scope)
		for index := range candidates.EachSet() {
			if !yield(snapshot.ClusterInfo(index)) {
				return
			}
		}
	}
	c.decisionCounts = func() (func(int) int, int) {
		counts := snapshot.CountsOfOthers(request.Key)
		return func(i int) int { return counts.Of(left.indices[i]) }, counts.Highest
	}

	e.result.Expired = c.countExpired(e.evalContext.RequeueAfterExpiry)
	e.selectFast(c)
	e.result.RequeueAt = e.requeueAt()
	if e.result.ListsRejections() {
		e.result.rejections = sync.OnceValue(func() []Rejection { return e.rejections(runs) })
	}
	if !e.result.isRanked() {
		e.result.best = sync.OnceValue(c.best)
	}
	e.result.details = sync.OnceValue(func() *details {
		all := evaluateAll(request, e.result.snapshot, incumbents, now, func(all *candidates) (func(i int) int, int) {
			of, highest := c.decisionCounts() // DecisionCounts of the snapshot visits all decisions of the hub.
			return func(i int) int {
				at, _ := c.index(all.clusters[i].Name) // Both have the same clusters.
				return of(at)
			}, highest
		})
		return all.details()
	})
	return e.result
}
