// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// historyName is the scenario of label changes with and without the history of decisions.
const historyName = "history"

// historyRounds is how often the hub is started with and without the history, in turns, so that a machine that becomes slower slows down both.
const historyRounds = 6

// historyCost is what label changes cost.
type historyCost struct {
	latencies

	cpu     time.Duration
	events  int
	heap    int64
	beaten  int
	beating time.Duration
}

// history changes a label as labelChange does, and sends heartbeats, with the history of decisions and without it.
func (s *stage) history(ctx context.Context) error {
	var with, without historyCost
	for round := range historyRounds {
		for _, each := range []struct {
			cost *historyCost
			mode string
		}{{&without, system.HistoryOff}, {&with, system.HistoryMemory}} {
			if err := s.historyRound(ctx, each.mode, each.cost); err != nil {
				return fmt.Errorf("%s: round %d with --%s=%s: %w", historyName, round+1, system.HistoryFlag, each.mode, err)
			}
		}
	}
	for _, each := range []struct {
		cost *historyCost
		name string
	}{{&without, "without"}, {&with, "with"}} {
		s.run.AddTime(historyName, each.name+"-last-p50", report.Percentile(each.cost.last, 50))
		s.run.AddTime(historyName, each.name+"-cpu-per-event", each.cost.cpu/time.Duration(each.cost.events))
		s.run.AddTime(historyName, each.name+"-cpu-per-heartbeat", each.cost.beating/time.Duration(each.cost.beaten))
		s.run.Add(historyName, each.name+"-peak-memory", report.Bytes, float64(each.cost.heap))
		s.logf("%s: %s: last decision p50 %v, cpu for an event %v, for a heartbeat %v", historyName, each.name,
			report.Percentile(each.cost.last, 50), each.cost.cpu/time.Duration(each.cost.events), each.cost.beating/time.Duration(each.cost.beaten))
	}
	if err := s.retire(); err != nil {
		return err
	}
	_, err := s.startAgain(ctx, historyName, &start{})
	return err
}

// historyRound starts the hub with a mode of the history, and adds what changes cost.
func (s *stage) historyRound(ctx context.Context, mode string, cost *historyCost) error {
	if err := s.retire(); err != nil {
		return err
	}
	one := start{}
	if _, err := s.startAgain(ctx, historyName, &one, "--"+system.HistoryFlag+"="+mode); err != nil {
		return err
	}
	w, err := s.open(ctx)
	if err != nil {
		return err
	}
	n, err := s.toggles(ctx, &cost.latencies)
	if err != nil {
		return err
	}
	o, err := s.finish(ctx, historyName, w)
	if err != nil {
		return err
	}
	cost.cpu, cost.events = cost.cpu+o.cpu, cost.events+n

	const rate = 100
	if w, err = s.open(ctx); err != nil {
		return err
	}
	if n, err = s.beat(ctx, rate, beatFor, nil); err != nil {
		return err
	}
	if o, err = s.finish(ctx, historyName, w); err != nil {
		return err
	}
	cost.beating, cost.beaten = cost.beating+o.cpu, cost.beaten+n
	peak, err := s.hub.memory()
	cost.heap = max(cost.heap, peak)
	return err
}
