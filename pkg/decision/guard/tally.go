package guard

import (
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// tally compares the clusters that there were with those that an answer selects.
type tally struct {
	wanted *int32
	// countReplaced says that a cluster whose place another one takes counts as removed.
	countReplaced bool
	// past is how many there were, and selected how many are selected.
	past, selected int
	// unfit and unused are how many of the past ones are not selected, because they do not fit, or for others that are better; gained is how
	// many are selected that are not among the past ones. Others is how many of the unfit ones have no names.
	unfit, unused, gained, others int
}

// base is of how many clusters the share is taken.
func (t tally) base() int {
	if t.wanted != nil {
		return min(t.past, int(*t.wanted)) // On the way from one cluster to another both are there.
	}

	return t.past
}

// removed is how many clusters the decisions lose, without those whose places are taken by others unless they count.
func (t tally) removed() int {
	switch {
	case t.countReplaced:
		return min(t.unfit+t.unused, t.base())
	case t.wanted != nil:
		return max(0, t.base()-t.selected)
	default:
		return t.unfit + max(0, t.unused-t.gained)
	}
}

// exceeds reports whether more than the share is removed.
func (t tally) exceeds(percent int) bool { return t.removed()*Off > percent*t.base() }

// losses are the clusters that there were and that are not selected, sorted by name.
type losses struct {
	unfit, unused []string
}

// count compares the past clusters, beside which there were others without names, with an answer.
func (g Guard) count(result *scheduling.Result, past map[string]bool, others int) (tally, losses) {
	t := tally{
		wanted: result.Request.Wanted, countReplaced: g.CountReplaced, past: len(past) + others, selected: len(result.Selected),
		unfit: others, others: others,
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
			lost.unused = append(lost.unused, cluster)
		default:
			lost.unfit = append(lost.unfit, cluster)
		}
	}

	slices.Sort(lost.unfit)
	slices.Sort(lost.unused)

	t.unfit += len(lost.unfit)
	t.unused = len(lost.unused)

	return t, lost
}

// removed are those of the losses that count, sorted by name: no other cluster takes their places. Where only some of them do, those that
// have left first are forgotten first, and then those that still fit.
func (l losses) removed(t tally, left Departures, incumbents map[string]bool, now time.Time) []string {
	var (
		certain, replaceable []string
		counts               int
	)

	switch {
	case t.countReplaced:
		certain = slices.Concat(l.unfit, l.unused)
	case t.wanted != nil:
		replaceable = slices.Concat(l.unused, l.unfit)
		counts = t.removed() // Others may be among them, and be forgotten before one of these would be.
	default:
		certain, replaceable = l.unfit, l.unused
		counts = t.removed() - t.unfit
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
