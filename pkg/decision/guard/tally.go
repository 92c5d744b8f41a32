package guard

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Window is how long a cluster that has left the decisions counts as removed, and as one of those that there were.
const Window = 10 * time.Minute

// Departures are when clusters left decisions for causes outside of the placement.
type Departures map[string]time.Time

// within are those that count at a time; nil when there are none.
func (d Departures) within(now time.Time) Departures {
	var recent Departures

	for cluster, left := range d {
		if now.Before(left.Add(Window)) {
			if recent == nil {
				recent = Departures{}
			}

			recent[cluster] = left
		}
	}

	return recent
}

// inOrder are the clusters, the first that left first.
func (d Departures) inOrder() []string {
	return slices.SortedFunc(maps.Keys(d), func(a, b string) int { return cmp.Or(d[a].Compare(d[b]), cmp.Compare(a, b)) })
}

// tally compares the clusters that there were with those that an answer selects.
type tally struct {
	wanted *int32
	// past is how many there were, and selected how many are selected.
	past, selected int
	// unfit and unused are how many of the past ones are not selected, because they do not fit, or for others that are better; gained is how
	// many are selected that are not among the past ones.
	unfit, unused, gained int
}

// base is of how many clusters the share is taken.
func (t tally) base() int {
	if t.wanted != nil {
		return min(t.past, int(*t.wanted)) // On the way from one cluster to another both are there.
	}

	return t.past
}

// removed is how many clusters the decisions lose, without those whose places are taken by others.
func (t tally) removed() int {
	if t.wanted != nil {
		return max(0, t.base()-t.selected)
	}

	return t.unfit + max(0, t.unused-t.gained)
}

// exceeds reports whether more than the share is removed.
func (t tally) exceeds(percent int) bool { return t.removed()*Off > percent*t.base() }

// losses are the clusters that there were and that are not selected, sorted by name.
type losses struct {
	unfit, unused []string
}

// count compares the past clusters with an answer.
func count(result *scheduling.Result, past map[string]bool) (tally, losses) {
	t := tally{wanted: result.Request.Wanted, past: len(past), selected: len(result.Selected)}

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
		case result.Fits(cluster):
			lost.unused = append(lost.unused, cluster)
		default:
			lost.unfit = append(lost.unfit, cluster)
		}
	}

	slices.Sort(lost.unfit)
	slices.Sort(lost.unused)

	t.unfit, t.unused = len(lost.unfit), len(lost.unused)

	return t, lost
}

// removed are those of the losses that count, sorted by name: no other cluster takes their places. Where only some of them do, those that
// have left first are forgotten first, and then those that still fit.
func (l losses) removed(t tally, left Departures, incumbents map[string]bool, now time.Time) []string {
	replaceable, certain := l.unused, l.unfit
	if t.wanted != nil {
		replaceable, certain = slices.Concat(l.unused, l.unfit), nil
	}

	leaves := func(cluster string) time.Time {
		if incumbents[cluster] {
			return now
		}

		return left[cluster]
	}

	slices.SortStableFunc(replaceable, func(a, b string) int { return leaves(a).Compare(leaves(b)) })

	removed := slices.Concat(certain, replaceable[len(certain)+len(replaceable)-t.removed():])
	slices.Sort(removed)

	return removed
}
