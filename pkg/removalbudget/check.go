// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Result is the result of checking a scheduling.Result against a Budget. The zero value means that there is no limit.
type Result struct {
	// Held reports whether clusters stay that the scheduling.Result removes. It is to be computed again at RequeueAt, unless that is zero.
	Held      bool
	RequeueAt time.Time
	// Count has the numbers of removed clusters, if clusters are held.
	Count Count
	// Leaving are the clusters that the scheduling.Result would remove now without replacement, sorted by name, and Rejections are the reasons.
	// If clusters are held, they are the clusters that stay.
	Leaving    []string
	Rejections []scheduling.Rejection
	// Recent are the removals within the Window after the scheduling.Result was applied.
	Recent RecentRemovals

	budget Budget
	valid  bool
	// holds are the held clusters by cause.
	holds []hold
	// outside are the leaving clusters that have left the scope, which the limit of the hub may hold.
	outside []string
	// reserved are the removals within the Window while it is unknown how much of the scheduling.Result was applied.
	reserved RecentRemovals
	// joined are the clusters that count as joined once the scheduling.Result was applied, and joinedTo is the number of the others in the
	// decisions. population is the number of clusters that the percentage refers to before it was applied.
	joined               map[string]time.Time
	joinedTo, population int
	// former are the clusters that the former spec selects, if the spec was changed and the former one is known.
	former map[string]bool
	// excludes reports that clusters leave which are not held, and pending that they stay all the same because of those that are held, so that
	// a changed spec is not applied yet.
	excludes, pending bool
}

// Check compares a scheduling.Result with the clusters in the existing decisions, and with the recent removals that the status of the Placement
// records.
//
// If the spec was changed since the decisions were written (SpecApplied is false), before is the scheduling.Result of the spec that they were
// written for, on the same Snapshot, or nil if that spec is unknown. The budget applies to the clusters that the former spec would lose as well;
// the others leave because of the change, which the budget does not block (docs/spec/differences.md B16).
func (b Budget) Check(result, before *scheduling.Result, incumbents map[string]bool, now time.Time) Result {
	// A postponed result is not written, like an invalid one.
	r := Result{budget: b, valid: result.Outcome() != scheduling.Invalid && result.Outcome() != scheduling.Postponed}
	switch {
	case !b.Enabled() && b.hub.unknown:
		return Result{budget: b, outside: result.OutOfScope(slices.Collect(maps.Keys(incumbents)))}
	case !b.Enabled():
		return Result{}
	case !r.valid:
		r.Recent = b.recorded.within(now)
		r.reserved, r.holds = r.Recent, b.memory.Held
		r.joined, r.joinedTo = b.memory.joined(now), b.memory.JoinedTo
		return r
	case b.Released && b.hub.percent >= NoLimit && !b.hub.unknown:
		return r
	}

	c := b.newCheck(result, incumbents, now)
	var found *ruling
	switch {
	case b.SpecApplied:
		c.generation = b.subject.Generation
		found = c.rule()
	case before != nil && before.Outcome() == scheduling.Decided:
		former := b.newCheck(before, incumbents, now)
		former.generation = b.appliedGeneration()
		found = former.rule().under(c)
		if same, is := c.ruleLike(former, found); is {
			found = same
		}
		r.former = former.selected
	default:
		c.generation, c.doubtful = b.appliedGeneration(), true
		found = c.rule()
	}

	r.joined, r.joinedTo, r.population = c.joined, len(incumbents)-len(c.joined), len(c.past)+c.left.countOthers()
	return r.with(found, c)
}

// with returns the Result of a ruling.
func (r Result) with(found *ruling, c *check) Result {
	kept := found.kept()
	r.outside = found.outside
	if c.losesLast() {
		r.outside = c.outside(c.there())
	}
	recent := found.earlier
	for _, cluster := range found.leaving {
		if !contains(kept, cluster) {
			recent = recent.with(cluster, ceil(c.now, time.Second))
		}
	}

	for cluster := range c.incumbents {
		r.excludes = r.excludes || !c.selected[cluster] && !contains(kept, cluster)
	}

	switch {
	case len(kept) > 0:
		r.Held, r.Leaving, r.holds, r.RequeueAt = true, kept, found.holds, found.requeueAt
		r.Count = found.total(kept)
		r.Rejections = c.result.RejectionsOf(kept)
		r.Recent = c.left.union(recent).truncated()
		r.reserved = r.Recent
		return r
	case r.budget.Released:
		r.Recent = RecentRemovals{}
		return r
	}

	r.Leaving, r.Recent = found.leaving, recent
	r.reserved = c.left.union(r.Recent).truncated()
	r.Recent = r.Recent.truncated()
	return r
}

// Applied returns the Result once it is known which clusters the scheduling.Result that is applied selects: those that join for causes outside of
// the Placement are recorded. A scheduling.Result that does not apply selects none.
func (r Result) Applied(applied *scheduling.Result, incumbents map[string]bool, now time.Time) Result {
	if !r.budget.Enabled() || !r.valid {
		return r
	}
	if !applied.Applies() {
		r.pending = !r.budget.SpecApplied && r.excludes
		return r
	}
	if len(incumbents) == 0 {
		return r // They are the first decisions of the Placement.
	}

	left := r.budget.recorded.within(now).Clusters
	var joining []string
	for _, info := range applied.Selected {
		_, returns := left[info.Name]
		if !returns && !incumbents[info.Name] && (r.budget.SpecApplied || r.former[info.Name]) {
			joining = append(joining, info.Name)
		}
	}
	there := make(map[string]bool, len(applied.Selected)+len(r.Recent.Clusters))
	for _, info := range applied.Selected {
		there[info.Name] = true
	}
	for cluster := range r.Recent.Clusters {
		there[cluster] = true
	}
	joined := map[string]time.Time{}
	maps.Copy(joined, r.joined)
	for _, cluster := range joining {
		joined[cluster] = ceil(now, time.Second)
	}
	maps.DeleteFunc(joined, func(cluster string, _ time.Time) bool { return !there[cluster] })
	r.joined = truncatedJoins(joined, len(there)+r.Recent.countOthers()-r.population)
	r.joinedTo = len(applied.Selected) - len(r.joined)
	return r
}

// LimitUnknown reports whether the Result depends on a limit of the hub that is not known.
func (r Result) LimitUnknown() bool { return r.budget.hub.unknown && len(r.outside) > 0 }

// Reserve returns the record that must be written before clusters are removed, so that they count even if the process ends meanwhile; false
// when the status has it already.
func (r Result) Reserve() (metav1.Condition, bool) {
	if !r.budget.Enabled() || r.budget.recorded.covers(r.Recent) {
		return metav1.Condition{}, false
	}
	return *r.reserved.condition(), true
}

// Progress is how much of a scheduling.Result was carried out when a status is written.
type Progress struct {
	// Applied reports whether its clusters are in the decisions, so that clusters that came back do not count any more, and Written whether the
	// decisions are completely written, surplus pages included.
	Applied, Written bool
}

// Record returns the conditions that record recent removals and the memory; none when there is nothing to record.
func (r Result) Record(progress Progress) []metav1.Condition {
	return present(r.recent(progress).condition(), r.memory(progress).condition())
}

// recent returns the next RecentRemovals.
func (r Result) recent(progress Progress) RecentRemovals {
	if progress.Applied {
		return r.Recent
	}
	return r.reserved
}

// Recorded returns the existing conditions as far as they have everything that Record returns, or else that. A status that would change only by
// expired removals, by clusters that have joined, or by a memory that an earlier version of the hub did not write, need not be written.
func (r Result) Recorded(progress Progress) []metav1.Condition {
	if !r.budget.Enabled() {
		return nil
	}
	recent, next := r.budget.record, r.budget.memoryRecord
	if recent == nil || !r.budget.recorded.covers(r.Recent) {
		recent = r.recent(progress).condition()
	}
	if !r.remembers(progress) {
		next = r.memory(progress).condition()
	}
	return present(recent, next)
}

// present returns the conditions that are not nil.
func present(conditions ...*metav1.Condition) []metav1.Condition {
	var list []metav1.Condition
	for _, condition := range conditions {
		if condition != nil {
			list = append(list, *condition)
		}
	}
	return list
}

// memory returns the next content of the MemoryCondition.
func (r Result) memory(progress Progress) memory {
	if !r.budget.Enabled() {
		return memory{}
	}
	next := memory{Held: r.holds, Joined: joins(r.joined)}
	if !progress.Applied { // Clusters whose time is over may be there still.
		for _, h := range r.budget.memory.Held {
			again := func(other hold) bool { return other.until().Equal(h.until()) }
			if h.Until != nil && !slices.ContainsFunc(r.holds, again) {
				next.Held = append(slices.Clone(next.Held), h)
			}
		}
	}
	if len(r.joined) > 0 {
		next.JoinedTo = r.joinedTo
	}
	if !r.budget.SpecApplied && (!progress.Written || !r.valid || r.pending) {
		next.Applied = r.budget.appliedGeneration()
	}
	return next
}

// remembers reports whether the existing MemoryCondition has what the next one has, but for clusters that have joined. One that does not exist has
// what the condition of a removal says that was held before.
func (r Result) remembers(progress Progress) bool {
	now, next := r.budget.memory, r.memory(progress).truncated()
	if r.budget.memoryRecord == nil {
		return next.Applied == 0 && (len(next.Held) == 0 || r.budget.heldBefore())
	}
	return now.Applied == next.Applied && equalHolds(now.Held, next.Held)
}

// appliedGeneration returns the generation of the applied spec, or the one before the current one if it is not known.
func (b Budget) appliedGeneration() int64 { return cmp.Or(b.applied, b.subject.Generation-1) }

// SpecChanged reports whether the scheduling.Result is the first for a changed spec, so that the budget does not block what the spec removes.
func (r Result) SpecChanged() bool { return r.budget.Enabled() && !r.budget.SpecApplied }
