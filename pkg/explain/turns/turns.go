// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"slices"
	"sync"
	"time"
)

// remembered is how long a user without requests is remembered, so that one who leaves and comes back does not go before those who wait. sweepAt is
// the number of users at which the others are forgotten.
const (
	remembered = time.Minute
	sweepAt    = 64
)

// A user who asks again before the time of restFactor times the last evaluation has passed hurries. One evaluation of all who hurry runs at a
// time, so that others find a free place, and they go after others. After it the next one begins when hurryPace times its time has passed, or
// longestPause after it: all who hurry take no more than that part of a core together, if none of their evaluations takes long.
const (
	restFactor   = 2
	hurryPace    = 10
	longestPause = 5 * time.Second
)

// longestWait is how long an evaluation waits for urgent ones. After that one of urgentTurns+1 turns is for those that have waited so long: a
// user whose evaluations are always urgent does not keep others from theirs.
const (
	longestWait = 5 * time.Second
	urgentTurns = 7
)

// Turns lets one evaluation of each user run at a time, and a number in all, of which one is that of a user who hurries. Urgent ones go before most
// others, those of users who hurry after others, and of the rest that of the user goes first whose last evaluation ended the longest time ago.
// If one evaluation runs at a time, users who hurry are treated like others. Turns is safe for concurrent use.
type Turns struct {
	running, openOfUsers int

	mu      sync.Mutex
	free    int
	paused  bool      // whether no evaluation of a user who hurries may start
	urgent  int       // the turns in a row that were urgent
	waiting []*waiter // in the order in which they came
	users   map[Tenant]*Turn
}

// Turn is that of a user. It exists as long as the user has requests, and a while longer.
type Turn struct {
	running bool
	hurries bool // with the last request
	open    int
	last    time.Time     // the end of the last evaluation
	took    time.Duration // the time of the last evaluation
	current *waiter       // the evaluation that runs
	left    time.Time     // the end of the last request
}

// ask notes that the user begins a request.
func (t *Turn) ask() {
	t.hurries = t.open > 0 || time.Since(t.left) < restFactor*t.took
	t.open++
}

// waiter is an evaluation that waits for its turn.
type waiter struct {
	of     *Turn
	urgent func() bool
	since  time.Time
	ready  chan struct{} // is closed when it may run
	began  time.Time
	// hurries reports that the user hurries, and ended that the evaluation has ended for the others.
	hurries, ended bool
}

// before reports whether a waiter goes before another one that came earlier.
func (t *Turns) before(w, other *waiter) bool {
	switch urgent, otherUrgent := w.urgent(), other.urgent(); {
	case urgent != otherUrgent && t.urgent >= urgentTurns && w.waitedLong() != other.waitedLong():
		return w.waitedLong()
	case urgent != otherUrgent:
		return urgent
	case w.hurries != other.hurries:
		return other.hurries
	default:
		return w.of.last.Before(other.of.last)
	}
}

// waitedLong reports whether urgent evaluations do not always go before the waiter any more.
func (w *waiter) waitedLong() bool { return time.Since(w.since) >= longestWait }

// New returns Turns for running evaluations at a time, from 1, with openOfUser open requests of a user at a time, from 1.
func New(running, openOfUser int) *Turns {
	return &Turns{running: running, free: running, openOfUsers: openOfUser, users: map[Tenant]*Turn{}}
}

// Join counts a request of a user; false if the user has too many. One that has joined leaves.
func (t *Turns) Join(user Tenant) (*Turn, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.users[user]
	if own == nil {
		t.forget()
		own = &Turn{}
		t.users[user] = own
	}
	if own.open == t.openOfUsers {
		return nil, false
	}

	own.ask()
	return own, true
}

// forget removes users whose last evaluation was long ago, if there are many.
func (t *Turns) forget() {
	if len(t.users) < sweepAt {
		return
	}
	before := time.Now().Add(-remembered)
	for user, own := range t.users {
		if own.open == 0 && own.last.Before(before) {
			delete(t.users, user)
		}
	}
}

// Leave ends a request of a user.
func (t *Turns) Leave(user Tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.users[user]
	own.open--
	own.left = time.Now()
}

// Users returns the number of users with open requests.
func (t *Turns) Users() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	users := 0
	for _, own := range t.users {
		if own.open > 0 {
			users++
		}
	}
	return users
}

// Take waits for the turn of the user, and for one of all. It returns nil when ctx ends before.
func (t *Turns) Take(ctx context.Context, own *Turn) (done func()) {
	return t.TakeUrgent(ctx, own, func() bool { return false })
}

// TakeUrgent is Take for an evaluation that becomes urgent while it waits. It calls urgent for each turn that is given, under a lock.
func (t *Turns) TakeUrgent(ctx context.Context, own *Turn, urgent func() bool) (done func()) {
	w := &waiter{of: own, urgent: urgent, since: time.Now(), ready: make(chan struct{})}
	t.mu.Lock()
	w.hurries = t.running > 1 && own.hurries
	t.waiting = append(t.waiting, w)
	t.start()
	t.mu.Unlock()
	select {
	case <-w.ready:
		if ctx.Err() == nil { // Of two ready cases select takes any.
			return func() { t.release(w) }
		}
		t.release(w)
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	at := slices.Index(t.waiting, w)
	if at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	}
	t.mu.Unlock()
	if at < 0 { // It may run since then.
		t.release(w)
	}
	return nil
}

// release ends an evaluation.
func (t *Turns) release(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(w)
	w.of.running, w.of.current = false, nil
	t.start()
}

// end ends an evaluation for the others.
func (t *Turns) end(w *waiter) {
	if w.ended {
		return
	}
	now := time.Now()
	w.ended, w.of.last, w.of.took = true, now, now.Sub(w.began)
	t.free++
	if w.hurries {
		time.AfterFunc(min((hurryPace-1)*w.of.took, longestPause), t.resume)
	}
}

// Suspend lets others run while the evaluation of a user waits for something else. The user has no other evaluation until it is done.
func (t *Turns) Suspend(own *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.current != nil {
		t.end(own.current)
		t.start()
	}
}

// resume lets an evaluation of a user who hurries start again.
func (t *Turns) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paused = false
	t.start()
}

// start lets those run that go first, as many as may.
func (t *Turns) start() {
	for t.free > 0 {
		first := -1
		for i, w := range t.waiting {
			if !w.of.running && (!t.paused || !w.hurries) && (first < 0 || t.before(w, t.waiting[first])) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		w := t.waiting[first]
		w.of.running, w.of.current, w.began = true, w, time.Now()
		t.paused = t.paused || w.hurries
		t.urgent++
		if !w.urgent() {
			t.urgent = 0
		}
		close(w.ready)
		t.waiting = slices.Delete(t.waiting, first, first+1)
		t.free--
	}
}
