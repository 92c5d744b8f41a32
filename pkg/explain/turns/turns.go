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

// longestWait is how long an evaluation waits for urgent ones: a user whose evaluations are always urgent does not keep others from theirs.
const longestWait = 5 * time.Second

// Turns lets one evaluation of each user run at a time, and a number in all. Urgent ones go before those that have not waited for long, and of others
// that of the user goes first whose last evaluation ended the longest time ago. It is safe for concurrent use.
type Turns struct {
	openOfUsers int

	mu      sync.Mutex
	free    int
	waiting []*waiter // in the order in which they came
	users   map[string]*Turn
}

// Turn is that of a user. It exists as long as the user has requests, and a while longer.
type Turn struct {
	running bool
	open    int
	last    time.Time // the end of the last evaluation
}

// waiter is an evaluation that waits for its turn.
type waiter struct {
	of     *Turn
	urgent func() bool
	since  time.Time
	ready  chan struct{} // is closed when it may run
}

// before reports whether the waiter goes before another one that came earlier.
func (w *waiter) before(other *waiter) bool {
	switch urgent, otherUrgent := w.urgent(), other.urgent(); {
	case urgent && !otherUrgent && !other.waitedLong():
		return true
	case otherUrgent && !urgent && !w.waitedLong():
		return false
	default:
		return w.of.last.Before(other.of.last)
	}
}

// waitedLong reports whether urgent evaluations do not go before the waiter any more.
func (w *waiter) waitedLong() bool { return time.Since(w.since) >= longestWait }

// New returns Turns for running evaluations at a time, from 1, with openOfUser open requests of a user at a time, from 1.
func New(running, openOfUser int) *Turns {
	return &Turns{free: running, openOfUsers: openOfUser, users: map[string]*Turn{}}
}

// Join counts a request of a user; false if the user has too many. One that has joined leaves.
func (t *Turns) Join(user string) (*Turn, bool) {
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

	own.open++
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
func (t *Turns) Leave(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users[user].open--
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
	t.waiting = append(t.waiting, w)
	t.start()
	t.mu.Unlock()
	select {
	case <-w.ready:
		if ctx.Err() == nil { // Of two ready cases select takes any.
			return func() { t.release(own) }
		}
		t.release(own)
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
		t.release(own)
	}
	return nil
}

// release ends an evaluation of a user.
func (t *Turns) release(own *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.last, own.running = time.Now(), false
	t.free++
	t.start()
}

// start lets those run that go first, as many as may.
func (t *Turns) start() {
	for t.free > 0 {
		first := -1
		for i, w := range t.waiting {
			if !w.of.running && (first < 0 || w.before(t.waiting[first])) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		w := t.waiting[first]
		w.of.running = true
		close(w.ready)
		t.waiting = slices.Delete(t.waiting, first, first+1)
		t.free--
	}
}
