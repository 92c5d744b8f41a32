// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// standbyName is the scenario of two processes that share a lease.
const standbyName = "standby"

// elected starts a process that waits for the lease.
const elected = "--disable-leader-election=false"

// standby starts a leader and a standby, measures what each of them has in memory, stops the leader, and changes a label at that moment.
func (s *stage) standby(ctx context.Context) error {
	if err := s.retire(); err != nil {
		return err
	}
	leading, waiting := start{}, start{}
	if _, err := s.startAgain(ctx, standbyName, &leading, elected); err != nil {
		return err
	}
	leader := s.hub
	w, err := s.launch(ctx, elected)
	if err != nil {
		return err
	}
	if err := s.hub.awaitReady(ctx); err != nil {
		return fmt.Errorf("waiting until the standby is ready: %w", err)
	}
	waiting.ready = time.Since(w.begin)
	if err := s.comeUp(ctx, s.hub.process, &waiting); err != nil {
		return err
	}
	s.run.Add(standbyName, "leader-memory", report.Bytes, float64(leading.memory))
	s.run.Add(standbyName, "memory", report.Bytes, float64(waiting.memory))
	if err := s.takeOver(ctx, leader); err != nil {
		return err
	}
	s.logf("%s: leader %d MiB, standby %d MiB, ready after %v", standbyName, leading.memory>>20, waiting.memory>>20, waiting.ready)
	return s.verify(ctx, standbyName)
}

// takeOver ends the leader, and measures the time from its end to the last decision of the standby for a label change that was made then.
func (s *stage) takeOver(ctx context.Context, leader *hub) error {
	if err := leader.stop(); err != nil {
		return err
	}
	ended, l := time.Now(), &latencies{}
	if err := s.toggle(ctx, true, l); err != nil {
		return fmt.Errorf("waiting for the decisions of %d placements after the leader has ended: %w", fleet.Concerned, err)
	}
	s.run.AddTime(standbyName, "take-over", l.first[0])
	s.logf("%s: first decision %v after the end of the leader, last one after %v", standbyName, l.first[0], time.Since(ended))
	return s.toggle(ctx, false, l)
}
