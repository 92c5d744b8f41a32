package guard

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	Causes  []scheduling.Rejection
	// Departures are what has left within the Window once the answer is carried out.
	Departures Departures

	guard    Guard
	answered bool
	// reserved are what has left within the Window, as long as it is not known how much of the answer is carried out.
	reserved Departures
}

// Judge compares the answer of an engine with the clusters in the present decisions, and with those that have left them, which the status of
// the placement records.
func (g Guard) Judge(result *scheduling.Result, incumbents map[string]bool, now time.Time) Ruling {
	// Of a result that is postponed nothing is written, as of one without an answer.
	ruling := Ruling{guard: g, answered: result.Valid() && result.Postponement() == nil}

	switch {
	case !g.On():
		return Ruling{}
	case !ruling.answered:
		ruling.Departures = g.recorded.within(now)
		ruling.reserved = ruling.Departures

		return ruling
	case !g.Armed, g.Released:
		return ruling
	}

	left := g.recorded.within(now)

	past := incumbents
	if len(left.Clusters) > 0 {
		past = make(map[string]bool, len(incumbents)+len(left.Clusters))
		maps.Copy(past, incumbents)

		for cluster := range left.Clusters {
			past[cluster] = true
		}
	}

	counted, lost := g.count(result, past, left.others())
	at := ceil(now, time.Second)

	for _, cluster := range lost.removed(counted, left, incumbents, at) {
		if incumbents[cluster] {
			ruling.Leaving = append(ruling.Leaving, cluster)
			ruling.Departures = ruling.Departures.with(cluster, at)
		} else {
			ruling.Departures = ruling.Departures.with(cluster, left.Clusters[cluster])
		}
	}

	if counted.removed() > 0 {
		ruling.Departures.Others = left.Others
	}

	if counted.exceeds(g.Percent) && g.removesNow(result, incumbents, left, counted) {
		return ruling.hold(result, incumbents, left, counted)
	}

	ruling.reserved = left.and(ruling.Departures).bounded()
	ruling.Departures = ruling.Departures.bounded()

	return ruling
}

// removesNow reports whether an answer removes clusters from the present decisions, whatever has left them before.
func (g Guard) removesNow(result *scheduling.Result, incumbents map[string]bool, left Departures, counted tally) bool {
	if !left.empty() {
		counted, _ = g.count(result, incumbents, 0)
	}

	return counted.removed() > 0
}

// hold is the ruling that holds the answer: nothing leaves now, so that what has left before is remembered alone.
func (r Ruling) hold(result *scheduling.Result, incumbents map[string]bool, left Departures, counted tally) Ruling {
	r.Held, r.Removed, r.Of = true, counted.removed(), counted.base()
	r.Left = max(0, r.Removed-len(r.Leaving))
	r.Causes = result.RejectionsOf(r.Leaving)
	r.Departures, r.reserved = left, left
	r.WakeAt = r.guard.release(result, incumbents, left, counted)

	return r
}

// release is when so much of what has left does not count any more that the answer does not remove too much; zero if that is never.
func (g Guard) release(result *scheduling.Result, incumbents map[string]bool, left Departures, counted tally) time.Time {
	selected := make(map[string]bool, len(result.Selected))
	for _, f := range result.Selected {
		selected[f.Name] = true
	}

	for _, removal := range left.removals() {
		counted.past -= removal.Others
		counted.unfit -= removal.Others

		for _, cluster := range removal.Clusters {
			switch {
			case incumbents[cluster]:
			case selected[cluster]:
				counted.past--
				counted.gained++
			case result.IsFeasible(cluster):
				counted.past--
				counted.unused--
			default:
				counted.past--
				counted.unfit--
			}
		}

		if !counted.exceeds(g.Percent) {
			return removal.Time.Add(Window)
		}
	}

	return time.Time{}
}

// Reserve is the record that has to be written before a cluster leaves the decisions, so that it counts whatever becomes of the process that
// removes it; false when the status has it already.
func (r Ruling) Reserve() (metav1.Condition, bool) {
	if !r.guard.On() || r.guard.recorded.covers(r.Departures) {
		return metav1.Condition{}, false
	}

	return *r.reserved.condition(), true
}

// Record is the condition that records what has left; none when nothing has. Written says that the answer is carried out, so that what came
// back does not count any more.
func (r Ruling) Record(written bool) []metav1.Condition {
	departures := r.reserved
	if written {
		departures = r.Departures
	}

	if condition := departures.condition(); condition != nil {
		return []metav1.Condition{*condition}
	}

	return nil
}

// Recorded is the condition as it is, if it has what Record says; otherwise it is Record. A status that differs from it by departures alone
// that do not count any more need not be written.
func (r Ruling) Recorded(written bool) []metav1.Condition {
	if r.guard.On() && r.guard.record != nil && r.guard.recorded.covers(r.Departures) {
		return []metav1.Condition{*r.guard.record}
	}

	return r.Record(written)
}

// Disarmed reports whether the answer is the first one for a changed spec, so that nothing of it is held.
func (r Ruling) Disarmed() bool { return r.guard.On() && !r.guard.Armed }
