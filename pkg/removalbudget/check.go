// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Result is the result of checking a scheduling.Result against a Budget. The zero value means that there is no limit.
type Result struct {
	// Held reports whether the scheduling.Result must not be applied now. It is to be computed again at RequeueAt, unless that is zero.
	Held      bool
	RequeueAt time.Time
	// Count has the numbers of removed clusters, if the scheduling.Result is held.
	Count Count
	// Leaving are the clusters that the scheduling.Result would remove now without replacement, sorted by name, and Rejections are the reasons.
	// If it is held, they are the clusters that stay.
	Leaving    []string
	Rejections []scheduling.Rejection
	// Recent are the removals within the Window after the scheduling.Result was applied.
	Recent RecentRemovals

	budget Budget
	valid  bool
	// holds reports whether the limit of the Placement holds clusters, and scope which ones the limit of the hub holds.
	holds bool
	scope scopeHold
	// reserved are the removals within the Window while it is unknown how much of the scheduling.Result was applied.
	reserved RecentRemovals
}

// Check compares a scheduling.Result with the clusters in the existing decisions, and with the recent removals that the status of the Placement
// records.
func (b Budget) Check(result *scheduling.Result, incumbents map[string]bool, now time.Time) Result {
	// A postponed result is not written, like an invalid one.
	r := Result{budget: b, valid: result.Outcome() != scheduling.Invalid && result.Outcome() != scheduling.Postponed}
	switch {
	case !b.Enabled() && b.hub.unknown:
		return Result{budget: b, scope: scopeHold{outside: result.OutOfScope(slices.Collect(maps.Keys(incumbents)))}}
	case !b.Enabled():
		return Result{}
	case !r.valid:
		r.Recent = b.recorded.within(now)
		r.reserved = r.Recent
		return r
	case !b.SpecApplied, b.Released && b.hub.percent >= NoLimit && !b.hub.unknown:
		return r
	}

	left := b.recorded.within(now)

	past := incumbents
	if len(left.Clusters) > 0 {
		past = make(map[string]bool, len(incumbents)+len(left.Clusters))
		maps.Copy(past, incumbents)
		for cluster := range left.Clusters {
			past[cluster] = true
		}
	}

	r, counted := r.count(result, past, incumbents, left, now)
	r.holds = !b.Released && counted.exceeds(b.Percent) && b.removesNow(result, incumbents, left, counted)
	r.scope = b.holdScope(result, past, incumbents, left, r.Leaving, now)
	switch kept := r.scope.kept(r.Leaving, r.holds); {
	case len(kept) > 0:
		return r.hold(result, incumbents, left, counted, kept, ceil(now, time.Second))
	case b.Released:
		return Result{budget: b, valid: true, scope: r.scope}
	}

	r.reserved = left.union(r.Recent).truncated()
	r.Recent = r.Recent.truncated()
	return r
}

// count compares the previous clusters with the scheduling.Result, and returns the Result with Leaving and Recent.
func (r Result) count(
	result *scheduling.Result, past, incumbents map[string]bool, left RecentRemovals, now time.Time,
) (Result, comparison) {
	counted, lost := r.budget.countRemovals(result, past, left.countOthers())
	at := ceil(now, time.Second)
	for _, cluster := range lost.removed(counted, left, incumbents) {
		if incumbents[cluster] {
			r.Leaving = append(r.Leaving, cluster)
			r.Recent = r.Recent.with(cluster, at)
		} else {
			r.Recent = r.Recent.with(cluster, left.Clusters[cluster])
		}
	}

	if counted.removed() > 0 {
		r.Recent.Others = left.Others
	}
	return r, counted
}

// LimitUnknown reports whether the Result depends on a limit of the hub that is not known.
func (r Result) LimitUnknown() bool { return r.budget.hub.unknown && len(r.scope.outside) > 0 }

// removesNow reports whether a scheduling.Result removes clusters from the existing decisions, regardless of recent removals.
func (b Budget) removesNow(result *scheduling.Result, incumbents map[string]bool, left RecentRemovals, counted comparison) bool {
	if !left.empty() {
		counted, _ = b.countRemovals(result, incumbents, 0)
	}
	return counted.removed() > 0
}

// hold returns the Result that holds the removal of the kept clusters. Only the earlier removals are recorded, and those of the leaving
// clusters that are not kept.
func (r Result) hold(
	result *scheduling.Result, incumbents map[string]bool, left RecentRemovals, counted comparison, kept []string, at time.Time,
) Result {
	recent := RecentRemovals{Clusters: map[string]time.Time{}}
	for _, cluster := range r.Leaving {
		if !slices.Contains(kept, cluster) {
			recent = recent.with(cluster, at)
		}
	}

	removed := counted.removed()
	past := max(0, removed-len(kept))
	r.Held, r.Leaving = true, kept
	r.Count = Count{Past: past, Now: removed - past, Total: counted.percentageBase()}
	r.Rejections = result.RejectionsOf(kept)
	r.Recent = left.union(recent).truncated()
	r.reserved = r.Recent
	if r.holds {
		r.RequeueAt = r.budget.allowedAt(result, incumbents, left, counted)
	}

	if r.scope.held {
		for _, at := range []time.Time{r.scope.allowedAt, r.scope.until} {
			if r.RequeueAt.IsZero() || !at.IsZero() && at.Before(r.RequeueAt) {
				r.RequeueAt = at
			}
		}
	}
	return r
}

// allowedAt returns the time at which so many recent removals have expired that the scheduling.Result does not exceed the budget; zero means never.
func (b Budget) allowedAt(result *scheduling.Result, incumbents map[string]bool, left RecentRemovals, counted comparison) time.Time {
	selected := make(map[string]bool, len(result.Selected))
	for _, info := range result.Selected {
		selected[info.Name] = true
	}

	for _, removal := range left.removals() {
		counted.previous -= removal.Others
		counted.infeasible -= removal.Others
		for _, cluster := range removal.Clusters {
			switch {
			case incumbents[cluster]:
			case selected[cluster]:
				counted.previous--
				counted.gained++
			case result.IsFeasible(cluster):
				counted.previous--
				counted.outranked--
			default:
				counted.previous--
				counted.infeasible--
			}
		}

		if !counted.exceeds(b.Percent) {
			return removal.Time.Add(Window)
		}
	}

	return time.Time{}
}

// Reserve returns the record that must be written before clusters are removed, so that they count even if the process ends meanwhile; false
// when the status has it already.
func (r Result) Reserve() (metav1.Condition, bool) {
	if !r.budget.Enabled() || r.budget.recorded.covers(r.Recent) {
		return metav1.Condition{}, false
	}
	return *r.reserved.condition(), true
}

// Record returns the condition that records recent removals; none when there are none. Written reports whether the scheduling.Result was applied, so
// that clusters that came back do not count any more.
func (r Result) Record(written bool) []metav1.Condition {
	recent := r.reserved
	if written {
		recent = r.Recent
	}
	if condition := recent.condition(); condition != nil {
		return []metav1.Condition{*condition}
	}
	return nil
}

// Recorded returns the existing condition, if it has everything that Record returns, or else Record. A status that would change only by
// expired removals need not be written.
func (r Result) Recorded(written bool) []metav1.Condition {
	if r.budget.Enabled() && r.budget.record != nil && r.budget.recorded.covers(r.Recent) {
		return []metav1.Condition{*r.budget.record}
	}
	return r.Record(written)
}

// SpecChanged reports whether the scheduling.Result is the first for a changed spec, so that the budget does not block it.
func (r Result) SpecChanged() bool { return r.budget.Enabled() && !r.budget.SpecApplied }
