// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// coldStart starts the hub on a fleet without a decision, until all of them are right.
func (s *stage) coldStart(ctx context.Context) error {
	const scenario = "cold-start"
	w, err := s.launch(ctx)
	if err != nil {
		return err
	}
	if err := s.awaitStatuses(ctx, w.mark); err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	o, err := s.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	if s.cold, err = s.decisions(ctx); err != nil {
		return err
	}
	pages, decisions, placements := 0, 0, 0
	for _, a := range s.cold {
		if !fleet.Balanced(&a.Placement) {
			pages += len(a.Pages)
			placements++
		}
		for i := range a.Pages {
			decisions += len(a.Pages[i].Status.Decisions)
		}
	}
	s.wantWrites(scenario, o, writes{
		"create " + decisionKind: pages, "patch " + decisionKind: pages, "patch " + placementKind: placements,
	})
	s.events = int(o.events)
	s.run.Add(scenario, "decisions", report.Count, float64(decisions))
	s.run.Add(scenario, "decisions-per-placement", report.Count, float64(decisions)/float64(len(s.cold)))
	first := slices.IndexFunc(o.changes, func(c change) bool { return c.kind == decisionKind })
	if first < 0 {
		return fmt.Errorf("%s: the hub has written no decision", scenario)
	}
	s.run.AddTime(scenario, "first-write", o.changes[first].at.Sub(w.begin))
	s.run.AddTime(scenario, "seconds", o.last)
	s.run.Add(scenario, "placements-per-second", report.Count, float64(len(s.cold))/o.last.Seconds())
	s.add(scenario, o)
	s.run.Add(scenario, "events", report.Count, float64(s.events))
	return s.rest(ctx)
}

// launch starts the hub, with further flags; the window begins before it.
func (s *stage) launch(ctx context.Context, flags ...string) (window, error) {
	w := window{begin: time.Now(), mark: s.observer.mark()}
	var err error
	s.hub, err = startHub(ctx, s.programs.hub, s.directory, s.kubeconfig, "placement", flags...)
	return w, err
}

// rest measures what the hub needs when nothing happens.
func (s *stage) rest(ctx context.Context) error {
	const long = 4 * time.Second
	before, err := s.hub.cpu()
	if err != nil {
		return err
	}
	if err := pause(ctx, long); err != nil {
		return err
	}
	after, err := s.hub.cpu()
	if err != nil {
		return err
	}
	s.idle = (after - before).Seconds() / long.Seconds()
	s.run.Add("idle", "cpu-per-second", report.Seconds, s.idle)
	return nil
}

// pause waits for a while.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitStatuses waits until every placement has a status.
func (s *stage) awaitStatuses(ctx context.Context, mark int) error {
	reported := map[types.NamespacedName]bool{}
	return s.observer.await(ctx, mark, func(c change) bool {
		if c.kind == placementKind {
			reported[c.key] = true
		}
		return len(reported) == s.size.Placements
	})
}

// decisions reads what was written for every placement.
func (s *stage) decisions(ctx context.Context) ([]precomputed.Decisions, error) {
	var placements clusterv1beta1.PlacementList
	var pages clusterv1beta1.PlacementDecisionList
	if err := s.api.List(ctx, &placements); err != nil {
		return nil, fmt.Errorf("listing Placements: %w", err)
	}
	if err := s.api.List(ctx, &pages); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions: %w", err)
	}
	byPlacement := map[types.NamespacedName][]clusterv1beta1.PlacementDecision{}
	for i := range pages.Items {
		page := pages.Items[i]
		key := types.NamespacedName{Namespace: page.Namespace, Name: page.Labels[clusterv1beta1.PlacementLabel]}
		byPlacement[key] = append(byPlacement[key], page)
	}
	all := make([]precomputed.Decisions, 0, len(placements.Items))
	for i := range placements.Items {
		placement := placements.Items[i]
		key := types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}
		all = append(all, precomputed.Decisions{Placement: placement, Pages: byPlacement[key]})
	}
	return all, nil
}

// restart stops the hub and starts it again over what it has settled: it has nothing to write. Placements with the default prioritizers
// look at what the others have, who may have moved since, so the hub first comes to rest: restarts that write for them are not measured.
func (s *stage) restart(ctx context.Context) error {
	const scenario, most = "restart", 4
	var starts []start
	var o *outcome
	unrest := 0
	for len(starts) < s.starts() && unrest < most {
		if err := s.retire(); err != nil {
			return err
		}
		one := start{}
		var err error
		if o, err = s.startAgain(ctx, scenario, &one); err != nil {
			return err
		}
		s.wantWrites(scenario, o, writes{})
		if o.writes.total() == 0 {
			starts = append(starts, one)
		} else {
			unrest++
		}
	}
	s.run.Add(scenario, "restarts-to-rest", report.Count, float64(unrest))
	if len(starts) == 0 {
		s.failf("%s: each of %d restarts moved placements that balance", scenario, unrest)
	}
	s.addStarts(scenario, starts)
	s.add(scenario, o)
	return s.rest(ctx)
}

// start is how a program came up.
type start struct {
	ready, quiet, cpu time.Duration
	memory            int64
}

// starts is how often programs are started to measure it: once in large worlds, where it takes long anyway.
func (s *stage) starts() int {
	if s.size.Clusters > 2000 {
		return 1
	}
	return 3
}

// addStarts notes the middle of how a program came up, and the most memory.
func (s *stage) addStarts(scenario string, starts []start) {
	s.logf("%s: %s", scenario, addStarts(s.run, scenario, starts))
}

// addStarts is the method for any run. It returns a line for the log.
func addStarts(run *report.Run, scenario string, starts []start) string {
	n := len(starts)
	ready, quiet, spent := make([]time.Duration, n), make([]time.Duration, n), make([]time.Duration, n)
	var peak int64
	for i, one := range starts {
		ready[i], quiet[i], spent[i] = one.ready, one.quiet, one.cpu
		peak = max(peak, one.memory)
	}
	run.AddTime(scenario, "ready", report.Percentile(ready, 50))
	run.AddTime(scenario, "quiet", report.Percentile(quiet, 50))
	run.AddTime(scenario, "cpu-of-start", report.Percentile(spent, 50))
	run.Add(scenario, "peak-memory", report.Bytes, float64(peak))
	return fmt.Sprintf("ready after %v, quiet after %v, cpu %v, %d MiB", ready, quiet, spent, peak>>20)
}

// startAgain starts the hub, with further flags, and waits until it is quiet.
func (s *stage) startAgain(ctx context.Context, scenario string, measured *start, flags ...string) (*outcome, error) {
	w, err := s.launch(ctx, flags...)
	if err != nil {
		return nil, err
	}
	if err := s.hub.awaitReady(ctx); err != nil {
		return nil, fmt.Errorf("waiting until the hub is ready: %w", err)
	}
	measured.ready = time.Since(w.begin)
	if err := s.comeUp(ctx, s.hub.process, measured); err != nil {
		return nil, err
	}
	s.idle = 0 // All of the process counts.
	return s.finish(ctx, scenario, w)
}

// comeUp is that of the observer.
func (s *stage) comeUp(ctx context.Context, p *process, measured *start) error {
	return s.observer.comeUp(ctx, p, measured)
}

// comeUp waits until a program that was started is quiet.
func (o *observer) comeUp(ctx context.Context, p *process, measured *start) error {
	quiet, err := o.settle(ctx, p)
	if err != nil {
		return fmt.Errorf("waiting until %s is quiet: %w", p.name, err)
	}
	measured.quiet = quiet.Sub(p.begin)
	if measured.cpu, err = p.cpu(); err != nil {
		return err
	}
	measured.memory, err = p.memory()
	return err
}

// retire stops the hub, if it runs, and notes the most memory it had.
func (s *stage) retire() error {
	if s.hub == nil {
		return nil
	}
	peak, err := s.hub.memory()
	if err != nil {
		return err
	}
	if before, _ := s.run.Value("memory/peak"); float64(peak) > before {
		s.run.Add("memory", "peak", report.Bytes, float64(peak))
	}
	err = s.hub.stop()
	s.hub = nil
	return err
}
