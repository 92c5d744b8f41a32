// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"sync"
)

// Turns lets one evaluation of each user run at a time, and a number in all. It is safe for concurrent use.
type Turns struct {
	all         chan struct{}
	openOfUsers int

	mu    sync.Mutex
	users map[string]*Turn
}

// Turn is that of a user. It exists as long as something of the user has it or waits for it.
type Turn struct {
	taken chan struct{} // has an element while something has the turn
	open  int
}

// New returns Turns for running evaluations at a time, from 1, with openOfUser open requests of a user at a time, from 1.
func New(running, openOfUser int) *Turns {
	return &Turns{all: make(chan struct{}, running), openOfUsers: openOfUser, users: map[string]*Turn{}}
}

// Join counts a request of a user; false if the user has too many. One that has joined leaves.
func (t *Turns) Join(user string) (*Turn, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.users[user]
	if own == nil {
		own = &Turn{taken: make(chan struct{}, 1)}
		t.users[user] = own
	}
	if own.open == t.openOfUsers {
		return nil, false
	}

	own.open++
	return own, true
}

// Leave ends a request of a user.
func (t *Turns) Leave(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.users[user]; own.open == 1 {
		delete(t.users, user)
	} else {
		own.open--
	}
}

// Users returns the number of users with open requests.
func (t *Turns) Users() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.users)
}

// Take waits for the turn of the user, and then for one of all. It returns nil when ctx ends before.
func (t *Turns) Take(ctx context.Context, own *Turn) (done func()) {
	select {
	case own.taken <- struct{}{}:
	case <-ctx.Done():
		return nil
	}

	select {
	case t.all <- struct{}{}:
		done = func() { <-t.all; <-own.taken }
		if ctx.Err() != nil { // Of two ready cases select takes any.
			done()
			return nil
		}
		return done
	case <-ctx.Done():
		<-own.taken
		return nil
	}
}
