// SPDX-License-Identifier: Apache-2.0

package seats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// evaluation computes for a time, and yields every millisecond.
func evaluation(ctx context.Context, seats *Seats, namespace string, compute time.Duration, done func()) {
	seat, err := seats.Take(ctx, namespace)
	if err != nil {
		return
	}
	defer seat.Release()
	for range compute / time.Millisecond {
		time.Sleep(time.Millisecond)
		seat.Yield(ctx)
		if ctx.Err() != nil {
			return
		}
	}
	done()
}

// stopping returns a context for evaluations, and a function that cancels it and waits until they have ended.
func stopping(t *testing.T) (context.Context, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	return ctx, func() {
		cancel()
		time.Sleep(time.Second)
	}
}

// A namespace with many long evaluations delays another one by a time slice at most.
func TestLongEvaluationsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seats := New(2)
		ctx, stop := stopping(t)
		defer stop()
		for range 64 {
			go evaluation(ctx, seats, "attacker", 10*time.Second, func() {})
		}
		time.Sleep(time.Second)
		for n := range 20 {
			begin := time.Now()
			evaluation(t.Context(), seats, fmt.Sprintf("tenant-%d", n%4), 3*time.Millisecond, func() {})
			if took := time.Since(begin); took > 4*time.Millisecond {
				t.Errorf("evaluation %d of another namespace took %v, want 3 ms and at most one more", n, took)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// With one seat the time slice bounds the wait.
func TestOneSeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seats := New(1)
		ctx, stop := stopping(t)
		defer stop()
		go evaluation(ctx, seats, "attacker", time.Minute, func() {})
		time.Sleep(3 * time.Millisecond)
		begin := time.Now()
		evaluation(t.Context(), seats, "tenant", 2*time.Millisecond, func() {})
		if took := time.Since(begin); took > slice {
			t.Errorf("it took %v, want at most %v", took, slice)
		}
	})
}

// Namespaces that compute without rest get the same time, whatever the number of their evaluations.
func TestNamespacesShareTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seats := New(1)
		done := map[string]*atomic.Int64{"a": {}, "b": {}, "c": {}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for namespace, evaluations := range map[string]int{"a": 1, "b": 5, "c": 30} {
			for range evaluations {
				go func() {
					for ctx.Err() == nil {
						evaluation(ctx, seats, namespace, 100*time.Millisecond, func() { done[namespace].Add(1) })
					}
				}()
			}
		}
		<-ctx.Done()
		time.Sleep(time.Second)
		for namespace, had := range done {
			if n := had.Load(); n < 180 || n > 220 {
				t.Errorf("namespace %s has had %d evaluations of 600, want a third", namespace, n)
			}
		}
	})
}

// A namespace that computes without end beside others that seldom do uses a sixth of the CPU, and all of it when it is alone.
func TestAHeavyNamespaceRestsWhileOthersCome(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		others      int
		least, most time.Duration // of the CPU time in the second half of two minutes, in evaluations of 100 ms that end in it on two seats
	}{
		{"beside others", 4, 15 * time.Second, 30 * time.Second},
		{"alone", 0, 119 * time.Second, 120*time.Second + 2*100*time.Millisecond},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seats := New(2)
				ctx, stop := stopping(t)
				defer stop()
				var used atomic.Int64
				for range 64 {
					go func() {
						for ctx.Err() == nil {
							evaluation(ctx, seats, "heavy", 100*time.Millisecond, func() { used.Add(int64(100 * time.Millisecond)) })
						}
					}()
				}
				for n := range tc.others {
					go func() {
						for ctx.Err() == nil {
							begin := time.Now()
							evaluation(ctx, seats, fmt.Sprintf("light-%d", n), 2*time.Millisecond, func() {})
							if took := time.Since(begin); took > slice+2*time.Millisecond {
								t.Errorf("an evaluation of another namespace took %v", took)
							}
							time.Sleep(time.Second)
						}
					}()
				}
				time.Sleep(time.Minute)
				before := used.Load()
				time.Sleep(time.Minute)
				if got := time.Duration(used.Load() - before); got < tc.least || got > tc.most {
					t.Errorf("it used %v in a minute on two seats, want %v to %v", got, tc.least, tc.most)
				}
			})
		})
	}
}

// A heavy namespace begins again when the others have gone, without an event.
func TestAHeavyNamespaceGoesOnWhenTheOthersHaveGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seats := New(1)
		evaluation(t.Context(), seats, "heavy", time.Minute, func() {})
		evaluation(t.Context(), seats, "light", time.Millisecond, func() {})
		begin := time.Now()
		evaluation(t.Context(), seats, "heavy", time.Millisecond, func() {})
		if took := time.Since(begin); took < halfLife-time.Second || took > halfLife+time.Second {
			t.Errorf("it waited %v, want %v", took, halfLife)
		}
	})
}

// Whatever is taken, yielded, cancelled and released: never more seats than there are, none is lost, and no namespace has two while another waits
// longer than the others take to yield.
func TestSeatsAreNeitherLostNorMultiplied(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 3).Draw(rt, "seats")
		type job struct {
			namespace            string
			begin, work, timeout time.Duration
		}
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) job {
			ms := func(label string, most int) time.Duration {
				return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * time.Millisecond
			}
			return job{
				namespace: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "namespace"),
				begin:     ms("begin", 20), work: ms("work", 30), timeout: ms("timeout", 60),
			}
		}), 1, 20).Draw(rt, "jobs")

		synctest.Test(t, func(t *testing.T) {
			seats := New(total)
			var running atomic.Int64
			for _, j := range jobs {
				go func() {
					time.Sleep(j.begin)
					ctx, cancel := context.WithTimeout(t.Context(), j.timeout)
					defer cancel()
					seat, err := seats.Take(ctx, j.namespace)
					if err != nil {
						if !errors.Is(err, ErrNoSeat) || !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("error %v", err)
						}
						return
					}
					defer seat.Release()
					for range j.work / time.Millisecond {
						if now := running.Add(1); now > int64(total) {
							t.Errorf("%d evaluations run on %d seats", now, total)
						}
						time.Sleep(time.Millisecond)
						running.Add(-1)
						seat.Yield(ctx)
						if ctx.Err() != nil {
							return
						}
					}
				}()
			}
			time.Sleep(time.Minute)
			if seats.taken != 0 || len(seats.waiting) != 0 {
				t.Errorf("%d seats are taken and %d evaluations wait in the end", seats.taken, len(seats.waiting))
			}
			for namespace, user := range seats.users {
				if user.taken != 0 || user.waiting != 0 {
					t.Errorf("namespace %s has %+v in the end", namespace, user)
				}
			}
		})
	})
}
