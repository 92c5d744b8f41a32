// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import "time"

// Pace says how often ApplicationSets are refreshed.
type Pace struct {
	// Gather is how long a refresh waits for more changes.
	Gather time.Duration
	// Interval is the shortest time between two refreshes of one ApplicationSet.
	Interval time.Duration
	// Spacing is the shortest time between two refreshes of any.
	Spacing time.Duration
	// Retry and MaxRetry are the first and the longest time after which a refresh that failed is tried again.
	Retry, MaxRetry time.Duration
}

// Outcome is what came of a refresh.
type Outcome int

const (
	// Refreshed means that the annotation was written.
	Refreshed Outcome = iota
	// NotConcerned means that no ConfigMap of the generators names PlacementDecisions.
	NotConcerned
	// Failed means that the refresh is tried again.
	Failed
)

// pacer has a turn for each ApplicationSet that wants a refresh, waits, or was refreshed less than Pace.Interval ago.
type pacer struct {
	Pace

	turns map[string]*turn
	// free is when the next refresh of any ApplicationSet may start.
	free time.Time
}

// turn is the state of one ApplicationSet.
type turn struct {
	// wanted is true if its clusters have changed since the last refresh started, first at the time since.
	wanted bool
	since  time.Time
	// started is true from Next to Done.
	started bool
	// isHeld is true while it has AnnotationRefresh.
	isHeld bool
	// earliest is when the next refresh may start, by Pace.Interval or after a failure.
	earliest time.Time
	// failures is how many refreshes have failed in a row.
	failures int
}

func newPacer(pace Pace) pacer {
	return pacer{Pace: pace, turns: map[string]*turn{}}
}

func (p *pacer) turn(name string) *turn {
	found, exists := p.turns[name]
	if !exists {
		found = &turn{}
		p.turns[name] = found
	}
	return found
}

// want asks for a refresh.
func (p *pacer) want(name string, now time.Time) {
	t := p.turn(name)
	if !t.wanted {
		t.wanted, t.since = true, now
	}
}

// hold says whether the ApplicationSet has AnnotationRefresh.
func (p *pacer) hold(name string, isHeld bool, now time.Time) {
	if isHeld {
		p.turn(name).isHeld = true
		return
	}
	if t, exists := p.turns[name]; exists {
		t.isHeld = false
		p.tidy(name, t, now)
	}
}

// drop takes back what want has asked for.
func (p *pacer) drop(name string) {
	if t, exists := p.turns[name]; exists {
		t.wanted = false
	}
}

// forget removes an ApplicationSet.
func (p *pacer) forget(name string) {
	delete(p.turns, name)
}

// due returns when the refresh of a turn may start.
func (p *pacer) due(t *turn) time.Time {
	at := t.since.Add(p.Gather)
	if t.earliest.After(at) {
		at = t.earliest
	}
	if p.free.After(at) {
		at = p.free
	}
	return at
}

// next returns the ApplicationSet that has waited longest of those that are due, or when the first one is due, zero for never.
func (p *pacer) next(now time.Time) (string, time.Time, bool) {
	var (
		name  string
		first *turn
		at    time.Time
	)
	for candidate, t := range p.turns {
		if !t.wanted || t.started || t.isHeld {
			p.tidy(candidate, t, now)
			continue
		}
		due := p.due(t)
		if first == nil || due.Before(at) || due.Equal(at) && isBefore(t, candidate, first, name) {
			name, first, at = candidate, t, due
		}
	}
	if first == nil {
		return "", time.Time{}, false
	}
	if at.After(now) {
		return "", at, false
	}
	first.wanted, first.started = false, true
	p.free = now.Add(p.Spacing)
	return name, time.Time{}, true
}

// isBefore orders turns that are due at the same time.
func isBefore(a *turn, aName string, b *turn, bName string) bool {
	if a.since.Equal(b.since) {
		return aName < bName
	}
	return a.since.Before(b.since)
}

// done ends a refresh.
func (p *pacer) done(name string, outcome Outcome, now time.Time) {
	t := p.turn(name)
	t.started = false
	if outcome == Failed {
		delay := p.Retry << min(t.failures, 30)
		if delay <= 0 || delay > p.MaxRetry {
			delay = p.MaxRetry
		}
		t.failures++
		t.earliest = now.Add(delay)
		return
	}
	t.failures = 0
	t.earliest = now.Add(p.Interval)
}

// tidy removes a turn that says nothing any more.
func (p *pacer) tidy(name string, t *turn, now time.Time) {
	if !t.wanted && !t.started && !t.isHeld && !t.earliest.After(now) {
		delete(p.turns, name)
	}
}

// held returns how many turns are wanted and held.
func (p *pacer) held() int {
	count := 0
	for _, t := range p.turns {
		if t.wanted && t.isHeld {
			count++
		}
	}
	return count
}
