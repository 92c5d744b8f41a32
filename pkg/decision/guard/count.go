package guard

import (
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// removalCount compares the clusters that there were with those that an answer selects.
type removalCount struct {
	wanted *int32
	// countReplaced says that a cluster whose place another one takes counts as removed.
	countReplaced bool
	// previous is how many there were, and selected how many are selected.
	previous, selected int
	// infeasible and unused are how many of the past ones are not selected, because they do not fit, or for others that are better; gained is how
	// many are selected that are not among the past ones. Others is how many of the unfit ones have no names.
	infeasible, outranked, gained, others int
}

// base is of how many clusters the share is taken.
func (t removalCount) base() int {
	if t.wanted != nil {
		return min(t.previous, int(*t.wanted)) // On the way from one cluster to another both are there.
	}

	return t.previous
}

// removed is how many clusters the decisions lose, without those whose places are taken by others unless they count.
func (t removalCount) removed() int {
	switch {
	case t.countReplaced:
		return min(t.infeasible+t.outranked, t.base())
	case t.wanted != nil:
		return max(0, t.base()-t.selected)
	default:
		return t.infeasible + max(0, t.outranked-t.gained)
	}
}

// exceeds reports whether more than the share is removed.
func (t removalCount) exceeds(percent int) bool { return t.removed()*Off > percent*t.base() }

// losses are the clusters that there were and that are not selected, sorted by name.
type losses struct {
	infeasible, outranked []string
}

// countRemovals compares the past clusters, beside which there were others without names, with an answer.
func (b Budget) countRemovals(result *scheduling.Result, past map[string]bool, others int) (removalCount, losses) {
	t := removalCount{
		wanted: result.Request.Wanted, countReplaced: b.CountReplaced, previous: len(past) + others, selected: len(result.Selected),
		infeasible: others, others: others,
	}

	var lost losses

	kept := make(map[string]bool, len(past))

	for _, f := range result.Selected {
		if past[f.Name] {
			kept[f.Name] = true
		} else {
			t.gained++
		}
	}

	if len(kept) == len(past) {
		return t, lost
	}

	for cluster := range past {
		switch {
		case kept[cluster]:
		case result.IsFeasible(cluster):
			lost.outranked = append(lost.outranked, cluster)
		default:
			lost.infeasible = append(lost.infeasible, cluster)
		}
	}

	slices.Sort(lost.infeasible)
	slices.Sort(lost.outranked)

	t.infeasible += len(lost.infeasible)
	t.outranked = len(lost.outranked)

	return t, lost
}

// removed are those of the losses that count, sorted by name: no other cluster takes their places. Where only some of them do, those that
// have left first are forgotten first, and then those that still fit.
func (l losses) removed(t removalCount, left RecentRemovals, incumbents map[string]bool, now time.Time) []string {
	var (
		certain, replaceable []string
		counts               int
	)

	switch {
	case t.countReplaced:
		certain = slices.Concat(l.infeasible, l.outranked)
	case t.wanted != nil:
		replaceable = slices.Concat(l.outranked, l.infeasible)
		counts = t.removed() // Others may be among them, and be forgotten before one of these would be.
	default:
		certain, replaceable = l.infeasible, l.outranked
		counts = t.removed() - t.infeasible
	}

	leaves := func(cluster string) time.Time {
		if incumbents[cluster] {
			return now
		}

		return left.Clusters[cluster]
	}

	slices.SortStableFunc(replaceable, func(a, b string) int { return leaves(a).Compare(leaves(b)) })

	removed := slices.Concat(certain, replaceable[len(replaceable)-min(counts, len(replaceable)):])
	slices.Sort(removed)

	return removed
}
