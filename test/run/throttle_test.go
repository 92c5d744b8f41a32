// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A package starts at once while few run, later when CPU time is idle, and never beside more than a few.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := 0.0
		limit := newThrottle(func() float64 { return idle })
		start := time.Now()
		begin := func() {
			t.Helper()
			if err := limit.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			limit.begin()
		}
		wantAfter := func(reason string, want time.Duration) {
			t.Helper()
			if got := time.Since(start); got != want {
				t.Errorf("%s: after %s, want %s", reason, got, want)
			}
			start = time.Now()
		}
		for range fewestAtOnce {
			begin()
		}
		wantAfter("the first ones", 0)

		time.AfterFunc(10*lookInterval-time.Second, func() { idle = 0.5 })
		begin()
		wantAfter("CPU time is idle", 10*lookInterval)

		idle = 0
		time.AfterFunc(time.Second, limit.end)
		time.AfterFunc(time.Minute, limit.end)
		begin()
		wantAfter("few run again", time.Minute)

		idle = 1
		for range mostAtOnce - fewestAtOnce {
			begin()
		}
		wantAfter("one at a time, so that the use of the last one is seen", (mostAtOnce-fewestAtOnce)*lookInterval)

		time.AfterFunc(time.Hour-time.Second, limit.end)
		begin()
		wantAfter("most run", time.Hour)
	})
}

func TestThrottleEnds(t *testing.T) {
	limit := newThrottle(func() float64 { return 0 })
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errFailed)
	for n := range fewestAtOnce + 1 {
		if err := limit.wait(ctx); !errors.Is(err, errFailed) {
			t.Errorf("with %d running: got %v, want %v", n, err, errFailed)
		}
		limit.begin()
	}
}

func TestIdleShare(t *testing.T) {
	meter := &idleMeter{}
	for range 3 {
		if share := meter.share(); share < 0 || share > 1 {
			t.Errorf("a share of %v", share)
		}
		<-time.After(20 * time.Millisecond)
	}
}
