// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"slices"
	"sync"
	"time"
)

// remembered is how long a user without requests is remembered, so that one who leaves and comes back does not go before those who wait. sweepAt is the
// number of users at which the others are forgotten.
const (
	remembered = time.Minute
	sweepAt    = 64
)

// Turns lets one evaluation of each user run at a time, and a number in all. The user whose last evaluation ended the longest time ago goes first. It is
// safe for concurrent use.
type Turns struct {
	openOfUsers int

	mu      sync.Mutex
	free    int
	waiting []*waiter // in the order in which they came
	users   map[string]*Turn
}

// Turn is that of a user. It exists as long as something of the user has it or waits for it, and a while longer.
type Turn struct {
	taken chan struct{} // has an element while something has the turn
	open  int
	last  time.Time // the end of the last evaluation
}

// waiter is an evaluation that has the turn of its user, and waits for one of all.
type waiter struct {
	of    *Turn
	ready chan struct{} // is closed when it may run
}

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
		own = &Turn{taken: make(chan struct{}, 1)}
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

// Take waits for the turn of the user, and then for one of all. It returns nil when ctx ends before.
func (t *Turns) Take(ctx context.Context, own *Turn) (done func()) {
	select {
	case own.taken <- struct{}{}:
	case <-ctx.Done():
		return nil
	}

	w := t.enqueue(own)
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
	} else {
		<-own.taken
	}
	return nil
}

// enqueue lets an evaluation wait until it may run.
func (t *Turns) enqueue(own *Turn) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &waiter{of: own, ready: make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.start()
	return w
}

// release ends an evaluation of a user.
func (t *Turns) release(own *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.last = time.Now()
	t.free++
	t.start()
	<-own.taken
}

// start lets those run that go first, as many as may.
func (t *Turns) start() {
	for t.free > 0 && len(t.waiting) > 0 {
		first := 0
		for i, w := range t.waiting {
			if w.of.last.Before(t.waiting[first].of.last) {
				first = i
			}
		}
		close(t.waiting[first].ready)
		t.waiting = slices.Delete(t.waiting, first, first+1)
		t.free--
	}
}
