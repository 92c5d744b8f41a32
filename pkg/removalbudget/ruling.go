// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// check compares the scheduling.Result of one spec with the existing decisions.
type check struct {
	Budget

	result     *scheduling.Result
	incumbents map[string]bool
	// left are the recent removals, and joined the clusters that joined within the Window, or while others were held.
	left   RecentRemovals
	joined map[string]time.Time
	// past are the clusters that a percentage refers to, besides those without names: the incumbents and those that have left, without
	// those that have joined. A cluster that joined within the Window and leaves within it is neither lost nor one of those that there were
	// (docs/spec/differences.md B19).
	past map[string]bool
	// lostJoined is the number of clusters of past that joined before the Window, while others were held, and are lost.
	lostJoined int
	now        time.Time
	// generation is that of the spec, and selected has the clusters that it selects.
	generation int64
	selected   map[string]bool
	// doubtful reports that the spec was changed, and that it is not known which clusters the former one would have lost. Then only those
	// count whose rejection has a cause outside of the spec (see leavingBySpec).
	doubtful bool
}

func (b Budget) newCheck(result *scheduling.Result, incumbents map[string]bool, now time.Time) *check {
	c := &check{
		Budget: b, result: result, incumbents: incumbents, left: b.recorded.within(now), now: now,
		past: maps.Clone(incumbents), selected: make(map[string]bool, len(result.Selected)),
	}
	if c.past == nil {
		c.past = map[string]bool{}
	}
	for cluster := range c.left.Clusters {
		c.past[cluster] = true
	}
	for _, info := range result.Selected {
		c.selected[info.Name] = true
	}
	c.joined = c.countJoined()
	for cluster, at := range c.joined {
		if counts(at, now) || c.selected[cluster] {
			delete(c.past, cluster)
		} else {
			c.lostJoined++
		}
	}
	return c
}

// countJoined returns the clusters in the decisions that joined within the Window before now, or before clusters began to be held and since.
// Clusters that have replaced others, whose removal was not counted, do not count as joined.
func (c *check) countJoined() map[string]time.Time {
	since := c.now
	if c.stillBlocks() && !c.condition.LastTransitionTime.IsZero() && c.condition.LastTransitionTime.Time.Before(since) {
		since = c.condition.LastTransitionTime.Time
	}
	joined := c.memory.joined(since)
	maps.DeleteFunc(joined, func(cluster string, _ time.Time) bool {
		_, left := c.left.Clusters[cluster]
		return left || !c.incumbents[cluster]
	})

	return truncatedJoins(joined, len(c.incumbents)-c.memory.JoinedTo)
}

// ruling is which clusters leave the existing decisions, and which of them stay.
type ruling struct {
	// leaving are the clusters in the decisions that count as removed, sorted, and earlier the recent removals that count. outside are those of
	// them, and of the clusters that were held before the spec was changed, that have left the scope.
	leaving, outside []string
	earlier          RecentRemovals
	holds            []hold
	// requeueAt is when a hold can end without an event; zero means never.
	requeueAt time.Time
	// past is the number of removed clusters that have left before, and base the number of clusters that there were.
	past, base int
}

// kept returns the clusters that are held, sorted.
func (r *ruling) kept() []string {
	var kept []string
	for _, h := range r.holds {
		kept = append(kept, h.Clusters...)
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// total returns the Count that describes the kept clusters. Those that leave now count as past.
func (r *ruling) total(kept []string) Count {
	count := Count{Past: r.past, Now: len(kept), Total: r.base}
	for _, cluster := range r.leaving {
		if !contains(kept, cluster) {
			count.Past++
		}
	}
	for _, h := range r.holds {
		count.Total = max(count.Total, h.Of+r.past)
	}
	count.Total = max(count.Total, count.Removed())
	return count
}

// under returns the ruling for the changed spec of another check, without the clusters that this spec selects. The holds keep their numbers,
// so that the change of the spec does not release the other clusters.
func (r *ruling) under(c *check) *ruling {
	stays := func(cluster string) bool { return c.selected[cluster] }
	next := *r
	next.leaving, next.holds = slices.DeleteFunc(slices.Clone(r.leaving), stays), nil
	for _, h := range r.holds {
		h.Clusters = slices.DeleteFunc(slices.Clone(h.Clusters), stays)
		if len(h.Clusters) > 0 && !c.replaces(h) {
			next.holds = append(next.holds, h)
		}
	}
	return &next
}

// ruleLike returns the ruling of a changed spec that selects and holds the same clusters as the former one, whose ruling is found. Its holds
// have the generation of the changed spec, which counts for them from then on. It returns false for another spec.
func (c *check) ruleLike(former *check, found *ruling) (*ruling, bool) {
	if !maps.Equal(c.selected, former.selected) {
		return nil, false
	}
	c.generation = former.generation
	same := c.rule()
	for i := range same.holds {
		if same.holds[i].Generation == c.generation {
			same.holds[i].Generation = c.subject.Generation
		}
	}
	c.generation = c.subject.Generation
	return same, slices.Equal(same.kept(), found.kept())
}

// rule decides which clusters leave.
func (c *check) rule() *ruling {
	counted, lost := c.countRemovals(c)
	r := &ruling{base: counted.percentageBase()}
	for _, cluster := range lost.removed(counted, c.left, c.incumbents) {
		if c.incumbents[cluster] {
			r.leaving = append(r.leaving, cluster)
		} else {
			r.earlier = r.earlier.with(cluster, c.left.Clusters[cluster])
		}
	}
	if counted.removed() > 0 {
		r.earlier.Others = c.left.Others
	}
	r.past = counted.past(r.leaving)

	r.outside = c.outside(r.leaving)
	c.holdEarlier(r)
	earlier, before := r.kept(), len(r.holds)
	inside := slices.DeleteFunc(slices.Clone(r.leaving), func(cluster string) bool {
		return contains(r.outside, cluster) || contains(earlier, cluster)
	})
	if !c.Released && counted.exceeds(c.Percent) && c.removesNow(c.Budget, counted) {
		c.holdByCause(r, c.asBefore(counted.hold(c.generation, r.leaving), r.past, inside), inside)
		r.lookAt(c.allowedAt(c.Budget, counted))
	}
	c.holdScope(r, slices.DeleteFunc(slices.Clone(r.outside), func(cluster string) bool { return contains(earlier, cluster) }))
	c.holdLast(r)

	kept := r.kept()
	others := len(slices.DeleteFunc(slices.Clone(r.leaving), func(cluster string) bool { return contains(kept, cluster) }))
	for i := range r.holds[before:] {
		r.holds[before+i] = r.holds[before+i].without(others)
	}
	return r
}

// asBefore returns a hold of clusters some of which were held before with the number of clusters that there were then, as far as the limit is
// exceeded with that number: the text stays the same when an edit lets other clusters leave.
func (c *check) asBefore(h hold, past int, clusters []string) hold {
	for _, before := range c.memory.Held {
		outside := func(cluster string) bool { return !contains(clusters, cluster) }
		if before.Until != nil || before.Last || slices.ContainsFunc(before.Clusters, outside) {
			continue
		}
		if count := (Count{Past: past, Now: h.Lost, Total: before.Of + past}); count.Exceeds(c.Percent) {
			h.Of = max(h.Of, before.Of)
		}
	}
	return h
}

// hold adds clusters that are held, unless there are none.
func (r *ruling) hold(h hold, clusters ...string) {
	if len(clusters) > 0 {
		h.Clusters = slices.Sorted(slices.Values(clusters))
		r.holds = append(r.holds, h)
	}
}

// holdByCause holds clusters, those that are rejected for a cause outside of the spec apart from the others.
func (c *check) holdByCause(r *ruling, h hold, clusters []string) {
	byCause := map[scheduling.Stage][]string{}
	for i, cause := range c.result.InfeasibleStages(clusters) {
		if cause != scheduling.StageTaint && cause != scheduling.StageTerminating {
			cause = ""
		}
		byCause[cause] = append(byCause[cause], clusters[i])
	}
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		h.Cause = cause
		r.hold(h, byCause[cause]...)
	}
}

// lookAt has the result computed again at a time, unless it is zero.
func (r *ruling) lookAt(at time.Time) {
	if !at.IsZero() && (r.requeueAt.IsZero() || at.Before(r.requeueAt)) {
		r.requeueAt = at
	}
}

// contains reports whether a sorted list has a cluster.
func contains(clusters []string, cluster string) bool {
	_, found := slices.BinarySearch(clusters, cluster)
	return found
}

// earliest returns the earlier of two times; zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// removesNow reports whether the scheduling.Result removes clusters from the existing decisions, regardless of recent removals.
func (c *check) removesNow(limit Budget, counted comparison) bool {
	if !c.left.empty() {
		now := *c
		now.left, now.past = RecentRemovals{}, maps.Clone(c.past)
		maps.DeleteFunc(now.past, func(cluster string, _ bool) bool { return !c.incumbents[cluster] })
		counted, _ = limit.countRemovals(&now)
	}
	return counted.removed() > 0
}

// allowedAt returns the time at which so many recent removals have expired that the scheduling.Result does not exceed a limit; zero means never.
func (c *check) allowedAt(limit Budget, counted comparison) time.Time {
	for _, removal := range c.left.removals() {
		counted.previous -= removal.Others
		counted.infeasible -= removal.Others
		for _, cluster := range removal.Clusters {
			switch {
			case c.incumbents[cluster]:
			case c.selected[cluster]:
				counted.previous--
				counted.gained++
			case c.result.IsFeasible(cluster):
				counted.previous--
				counted.outranked--
			default:
				counted.previous--
				counted.infeasible--
			}
		}

		if !counted.exceeds(limit.Percent) {
			return removal.Time.Add(Window)
		}
	}

	return time.Time{}
}
