// SPDX-License-Identifier: Apache-2.0

package seats

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// slice is how long an evaluation keeps its seat while others wait.
	slice = 10 * time.Millisecond
	// halfLife is the time after which half of the used CPU time is forgotten.
	halfLife = 10 * time.Second
	// heavy is the CPU time that a namespace has used of late if it is heavy, for each seat there is: what a sixth of a CPU uses without rest. A
	// light one has used less than light. Between them is room, so that namespaces that use as much as each other do not rest for one another.
	heavy = halfLife / 4
	light = heavy / 4
	// sweepAt is the number of namespaces at which those that have used nothing of late are forgotten, and negligible is what counts as nothing.
	sweepAt    = 1024
	negligible = time.Millisecond
)

// ErrNoSeat means that the context ended while the evaluation waited for its first seat.
var ErrNoSeat = errors.New("no seat became free in time")

// Seats are the seats of a process. It is safe for concurrent use.
type Seats struct {
	total int
	now   func() time.Time

	mu      sync.Mutex
	taken   int
	users   map[string]*user
	waiting []*waiter // in the order in which they came
	// latest are the two light namespaces that have begun an evaluation last.
	latest [2]taking
	// retry ends the wait of a namespace that is no longer heavy; nil for none.
	retry *time.Timer
}

// taking is when a namespace took a seat.
type taking struct {
	of *user
	at time.Time
}

// user is a namespace with evaluations, or one that has used CPU time of late.
type user struct {
	taken, waiting int
	used           time.Duration // as of at
	at             time.Time
}

// waiter is an evaluation that waits for a seat.
type waiter struct {
	of *user
	// first reports that it has had none yet.
	first bool
	ready chan struct{} // is closed when it has a seat
}

// New returns Seats for so many evaluations at a time, from 1.
func New(total int) *Seats { return &Seats{total: total, now: time.Now, users: map[string]*user{}} }

// Seat is the right of one evaluation to use the CPU. It is used by one goroutine.
type Seat struct {
	seats *Seats
	of    *user
	since time.Time
}

// Take waits for a seat of a namespace. The caller releases it. The error wraps ErrNoSeat and the error of the context.
func (s *Seats) Take(ctx context.Context, namespace string) (*Seat, error) {
	s.mu.Lock()
	of := s.user(namespace)
	w := s.queue(of, true)
	s.grant()
	s.mu.Unlock()

	if err := s.await(ctx, w); err != nil {
		return nil, errors.Join(ErrNoSeat, err)
	}
	return &Seat{seats: s, of: of, since: s.now()}, nil
}

// Yield gives the seat up if another namespace should have it, and waits for the next one. When the context ends
// meanwhile, it returns without a seat.
func (s *Seat) Yield(ctx context.Context) {
	if s.of == nil || !s.seats.passOn(s) {
		return
	}
	w := s.seats.release(s, true)

	if err := s.seats.await(ctx, w); err != nil {
		s.of = nil
		return
	}
	s.since = s.seats.now()
}

// Release gives the seat back.
func (s *Seat) Release() {
	if s.of != nil {
		s.seats.release(s, false)
		s.of = nil
	}
}

// release charges the time since the seat was taken, and gives the seat to who is next. It returns the waiter of an evaluation that goes
// on, and nil for another one.
func (s *Seats) release(seat *Seat, goesOn bool) (w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	seat.of.used, seat.of.at = seat.of.usedAt(now)+now.Sub(seat.since), now
	seat.of.taken--
	s.taken--
	if goesOn {
		w = s.queue(seat.of, false)
	}
	s.grant()
	return w
}

// passOn reports whether another namespace should have the seat: at once if its own has more than one, and otherwise at the end of the time
// slice if the other has used less.
func (s *Seats) passOn(seat *Seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	took := now.Sub(seat.since)
	if seat.of.taken <= 1 && took < slice {
		return false // The search for the next namespace looks at all that wait, and a seat is asked for after each evaluation of CEL.
	}
	next := s.next()
	if next < 0 || s.waiting[next].of == seat.of {
		return false
	}
	return seat.of.taken > 1 || s.waiting[next].of.usedAt(now) < seat.of.usedAt(now)+took
}

// user returns the user of a namespace.
func (s *Seats) user(namespace string) *user {
	known := s.users[namespace]
	if known == nil {
		s.sweep()
		known = &user{}
		s.users[namespace] = known
	}
	return known
}

// sweep forgets users that have used nothing of late, if there are many.
func (s *Seats) sweep() {
	if len(s.users) < sweepAt {
		return
	}
	now := s.now()
	for namespace, user := range s.users {
		if user.taken == 0 && user.waiting == 0 && user.usedAt(now) < negligible {
			delete(s.users, namespace)
		}
	}
}

// usedAt returns the CPU time that was used of late.
func (u *user) usedAt(now time.Time) time.Duration {
	if u.used == 0 {
		return 0
	}
	return time.Duration(float64(u.used) * math.Exp2(-float64(now.Sub(u.at))/float64(halfLife)))
}

func (s *Seats) queue(of *user, first bool) *waiter {
	w := &waiter{of: of, first: first, ready: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	of.waiting++
	return w
}

// next returns the place of the waiter that gets the next seat; -1 for none. A namespace without a seat goes before one with some, then the
// one that has used less, then the one that has waited longer.
func (s *Seats) next() int {
	next, now := -1, s.now()
	for at, w := range s.waiting {
		if w.first && s.rest(w.of, now) > 0 {
			continue
		}
		if next < 0 || w.of.before(s.waiting[next].of, now) {
			next = at
		}
	}
	return next
}

// rest returns how long a namespace gets no further seat. A heavy one gets none while light ones come, until it has used less: the CPU is also for
// what needs no seat, in this process and beside it.
func (s *Seats) rest(u *user, now time.Time) time.Duration {
	excess := float64(u.usedAt(now)) / float64(heavy*time.Duration(s.total))
	if excess < 1 {
		return 0
	}
	other := s.latest[0]
	if other.of == u {
		other = s.latest[1]
	}
	if other.of == nil {
		return 0
	}
	return min(time.Duration(math.Log2(excess)*float64(halfLife))+1, other.at.Add(halfLife).Sub(now))
}

func (u *user) before(other *user, now time.Time) bool {
	if u == other {
		return false
	}
	if u.taken != other.taken {
		return u.taken < other.taken
	}
	return u.usedAt(now) < other.usedAt(now)
}

// grant gives free seats to waiters.
func (s *Seats) grant() {
	for s.taken < s.total && len(s.waiting) > 0 {
		at := s.next()
		if at < 0 {
			s.retryLater()
			return
		}
		w := s.waiting[at]
		if now := s.now(); w.first && w.of.usedAt(now) < light*time.Duration(s.total) {
			if s.latest[0].of != w.of {
				s.latest[1] = s.latest[0]
			}
			s.latest[0] = taking{of: w.of, at: now}
		}
		s.taken++
		w.of.taken++
		close(w.ready)
		s.drop(at)
	}
}

// retryLater grants again when the first of the namespaces that wait has rested.
func (s *Seats) retryLater() {
	now := s.now()
	first := s.rest(s.waiting[0].of, now)
	for _, w := range s.waiting[1:] {
		first = min(first, s.rest(w.of, now))
	}
	if s.retry != nil {
		s.retry.Stop()
	}
	s.retry = time.AfterFunc(first, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.grant()
	})
}

// drop removes a waiter.
func (s *Seats) drop(at int) {
	s.waiting[at].of.waiting--
	s.waiting = slices.Delete(s.waiting, at, at+1)
}

// await waits until the waiter has a seat. If the context ends before, it has none.
func (s *Seats) await(ctx context.Context, w *waiter) error {
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.waiting, w); at >= 0 {
		s.drop(at)
		return ctx.Err()
	}
	return nil // It has got the seat meanwhile.
}
