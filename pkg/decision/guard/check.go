package guard

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Removal is what a guard says of an answer. The zero value says nothing: there is no bound.
type Removal struct {
	// Held says that the answer is not to be carried out now, but asked for again at WakeAt, unless that is zero.
	Held      bool
	RequeueAt time.Time
	// Removed is how many clusters would be removed of how many, those that have Left within the Window among both.
	Removed, Of, Left int
	// Leaving are the clusters that would leave the decisions now and are not replaced, sorted by name, and Causes say why.
	Leaving    []string
	Rejections []scheduling.Rejection
	// Recent are what has left within the Window once the answer is carried out.
	Recent RecentRemovals

	budget Budget
	valid  bool
	// reserved are what has left within the Window, as long as it is not known how much of the answer is carried out.
	reserved RecentRemovals
}

// Check compares the answer of an engine with the clusters in the present decisions, and with those that have left them, which the status of
// the placement records.
func (b Budget) Check(result *scheduling.Result, incumbents map[string]bool, now time.Time) Removal {
	// Of a result that is postponed nothing is written, as of one without an answer.
	r := Removal{budget: b, valid: result.Valid() && result.Postponement() == nil}

	switch {
	case !b.Enabled():
		return Removal{}
	case !r.valid:
		r.Recent = b.recorded.within(now)
		r.reserved = r.Recent

		return r
	case !b.SpecApplied, b.Released:
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

	counted, lost := b.countRemovals(result, past, left.countOthers())
	at := ceil(now, time.Second)

	for _, cluster := range lost.removed(counted, left, incumbents, at) {
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

	if counted.exceeds(b.Percent) && b.removesNow(result, incumbents, left, counted) {
		return r.block(result, incumbents, left, counted)
	}

	r.reserved = left.union(r.Recent).truncated()
	r.Recent = r.Recent.truncated()

	return r
}

// removesNow reports whether an answer removes clusters from the present decisions, whatever has left them before.
func (b Budget) removesNow(result *scheduling.Result, incumbents map[string]bool, left RecentRemovals, counted removalCount) bool {
	if !left.empty() {
		counted, _ = b.countRemovals(result, incumbents, 0)
	}

	return counted.removed() > 0
}

// block is the ruling that holds the answer: nothing leaves now, so that what has left before is remembered alone.
func (r Removal) block(result *scheduling.Result, incumbents map[string]bool, left RecentRemovals, counted removalCount) Removal {
	r.Held, r.Removed, r.Of = true, counted.removed(), counted.base()
	r.Left = max(0, r.Removed-len(r.Leaving))
	r.Rejections = result.RejectionsOf(r.Leaving)
	r.Recent, r.reserved = left, left
	r.RequeueAt = r.budget.allowedAt(result, incumbents, left, counted)

	return r
}

// allowedAt is when so much of what has left does not count any more that the answer does not remove too much; zero if that is never.
func (b Budget) allowedAt(result *scheduling.Result, incumbents map[string]bool, left RecentRemovals, counted removalCount) time.Time {
	selected := make(map[string]bool, len(result.Selected))
	for _, f := range result.Selected {
		selected[f.Name] = true
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

// Reserve is the record that has to be written before a cluster leaves the decisions, so that it counts whatever becomes of the process that
// removes it; false when the status has it already.
func (r Removal) Reserve() (metav1.Condition, bool) {
	if !r.budget.Enabled() || r.budget.recorded.covers(r.Recent) {
		return metav1.Condition{}, false
	}

	return *r.reserved.condition(), true
}

// Record is the condition that records what has left; none when nothing has. Written says that the answer is carried out, so that what came
// back does not count any more.
func (r Removal) Record(written bool) []metav1.Condition {
	recent := r.reserved
	if written {
		recent = r.Recent
	}

	if condition := recent.condition(); condition != nil {
		return []metav1.Condition{*condition}
	}

	return nil
}

// Recorded is the condition as it is, if it has what Record says; otherwise it is Record. A status that differs from it by departures alone
// that do not count any more need not be written.
func (r Removal) Recorded(written bool) []metav1.Condition {
	if r.budget.Enabled() && r.budget.record != nil && r.budget.recorded.covers(r.Recent) {
		return []metav1.Condition{*r.budget.record}
	}

	return r.Record(written)
}

// SpecChanged reports whether the answer is the first one for a changed spec, so that nothing of it is held.
func (r Removal) SpecChanged() bool { return r.budget.Enabled() && !r.budget.SpecApplied }
