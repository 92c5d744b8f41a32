// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"sync"
)

const (
	// maxConcurrent bounds the evaluations at a time, so that questions do not starve the controllers.
	maxConcurrent = 2
	// maxOpen bounds the requests at a time, before it is known who sends them.
	maxOpen = 50
	// maxOpenOfUser bounds the questions of a user at a time; one of them is evaluated.
	maxOpenOfUser = 4
)

// turns lets one question of each user be evaluated at a time, and maxConcurrent in all. It is safe for concurrent use.
type turns struct {
	all chan struct{}

	mu    sync.Mutex
	users map[string]*turn
}

// turn is that of a user. It exists as long as a question has it or waits for it.
type turn struct {
	taken chan struct{} // has an element while a question has the turn
	open  int
}

func newTurns() *turns {
	return &turns{all: make(chan struct{}, maxConcurrent), users: map[string]*turn{}}
}

// join counts a question of a user; false if the user has too many. A question that has joined leaves.
func (t *turns) join(user string) (*turn, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.users[user]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		t.users[user] = own
	}
	if own.open == maxOpenOfUser {
		return nil, false
	}

	own.open++
	return own, true
}

func (t *turns) leave(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.users[user]; own.open == 1 {
		delete(t.users, user)
	} else {
		own.open--
	}
}

// take waits for the turn of the user, and then for one of all. It returns nil when ctx ends before.
func (t *turns) take(ctx context.Context, own *turn) (done func()) {
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
