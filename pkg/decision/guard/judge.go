package guard

import (
	"maps"
	"time"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Ruling is what a guard says of an answer. The zero value says nothing: there is no bound.
type Ruling struct {
	// Held says that the answer is not to be carried out now, but asked for again at WakeAt, unless that is zero.
	Held   bool
	WakeAt time.Time
	// Removed is how many clusters would be removed of how many, those that have Left within the Window among both.
	Removed, Of, Left int
	// Leaving are the clusters that would leave the decisions now and are not replaced, sorted by name, and Causes say why.
	Leaving []string
	Causes  []scheduling.Cause
	// Departures are what to remember, once it is tried to carry the answer out.
	Departures Departures

	guard    Guard
	answered bool
}

// Judge compares the answer of an engine with the clusters in the present decisions, and with those that have left them.
func (g Guard) Judge(result *scheduling.Result, incumbents map[string]bool, left Departures, now time.Time) Ruling {
	// Of a result that is postponed nothing is written, as of one without an answer.
	ruling := Ruling{guard: g, answered: result.Answered() && result.Postponement() == nil}

	switch {
	case !g.On():
		return Ruling{}
	case !ruling.answered:
		ruling.Departures = left.within(now)

		return ruling
	case !g.Armed, g.Released:
		return ruling
	}

	left = left.within(now)

	past := incumbents
	if len(left) > 0 {
		past = make(map[string]bool, len(incumbents)+len(left))
		maps.Copy(past, incumbents)

		for cluster := range left {
			past[cluster] = true
		}
	}

	counted, lost := count(result, past)
	ruling.Departures = Departures{}

	for _, cluster := range lost.removed(counted, left, incumbents, now) {
		ruling.Departures[cluster] = now

		if incumbents[cluster] {
			ruling.Leaving = append(ruling.Leaving, cluster)
		} else {
			ruling.Departures[cluster] = left[cluster]
		}
	}

	if (g.standing || counted.exceeds(g.Percent)) && removesNow(result, incumbents, left, counted) {
		return ruling.hold(result, incumbents, left, counted)
	}

	return ruling
}

// removesNow reports whether an answer removes clusters from the present decisions, whatever has left them before.
func removesNow(result *scheduling.Result, incumbents map[string]bool, left Departures, counted tally) bool {
	if len(left) > 0 {
		counted, _ = count(result, incumbents)
	}

	return counted.removed() > 0
}

// hold is the ruling that holds the answer: nothing leaves now, so that what has left before is remembered alone.
func (r Ruling) hold(result *scheduling.Result, incumbents map[string]bool, left Departures, counted tally) Ruling {
	r.Held, r.Removed, r.Of = true, counted.removed(), counted.base()
	r.Left = r.Removed - len(r.Leaving)
	r.Causes = result.CausesOf(r.Leaving)
	r.Departures = left
	r.WakeAt = r.guard.release(result, incumbents, left, counted)

	return r
}

// release is when so much of what has left does not count any more that the answer does not remove too much; zero if that is never.
func (g Guard) release(result *scheduling.Result, incumbents map[string]bool, left Departures, counted tally) time.Time {
	selected := make(map[string]bool, len(result.Selected))
	for _, f := range result.Selected {
		selected[f.Name] = true
	}

	order := left.inOrder()

	for i, cluster := range order {
		switch {
		case incumbents[cluster]:
		case selected[cluster]:
			counted.past--
			counted.gained++
		case result.Fits(cluster):
			counted.past--
			counted.unused--
		default:
			counted.past--
			counted.unfit--
		}

		together := i+1 < len(order) && left[order[i+1]].Equal(left[cluster])
		if !together && !counted.exceeds(g.Percent) {
			return left[cluster].Add(Window)
		}
	}

	return time.Time{}
}

// Disarmed reports whether the answer is the first one for a changed spec, so that nothing of it is held.
func (r Ruling) Disarmed() bool { return r.guard.On() && !r.guard.Armed }
