// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// startsOfSystem is how often a program is started to measure it in a scenario with a control plane of its own.
const startsOfSystem = 5

// separateStage is a control plane of a scenario that has one of its own, with one controller of the hub, and what is measured on it.
type separateStage struct {
	scenario    string // whose name is the prefix of those of its steps
	controller  string
	programs    programs
	directory   string
	environment *localplane.ControlPlane
	api         client.WithWatch
	observer    *observer
	kubeconfig  string // of the hub's ServiceAccount
	hub         *hub
	run         *report.Run
	failures    []error
	log         io.Writer
}

// newSeparateStage starts a control plane for a scenario.
func newSeparateStage(
	ctx context.Context, scenario, controller string, tools programs, directory string, log io.Writer,
) (*separateStage, error) {
	environment, err := localplane.Start(ctx, localplane.Options{})
	return &separateStage{
		scenario: scenario, controller: controller, programs: tools, directory: directory, environment: environment,
		kubeconfig: filepath.Join(directory, "kubeconfig-"+scenario), run: &report.Run{}, log: log,
	}, err
}

// step is a part of a scenario.
type step struct {
	name string
	run  func(ctx context.Context, scenario string) error
}

// perform runs the steps one after the other, until one fails. It returns everything that was wrong.
func (s *separateStage) perform(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if err := perform(ctx, s.scenario+"-"+step.name, step.run); err != nil {
			return errors.Join(err, errors.Join(s.failures...))
		}
	}
	return errors.Join(s.failures...)
}

// perform runs a scenario in the time that it may take.
func perform(ctx context.Context, scenario string, run func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := run(ctx, scenario); err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	return nil
}

func (s *separateStage) close() error {
	if s.hub != nil {
		s.hub.kill()
	}
	return s.environment.Stop()
}

func (s *separateStage) logf(format string, args ...any) {
	fmt.Fprintf(s.log, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// failf notes something that is wrong whatever the machine.
func (s *separateStage) failf(format string, args ...any) {
	failure := fmt.Errorf(format, args...)
	s.failures = append(s.failures, failure)
	s.logf("WRONG: %v", failure)
}

// launch starts the hub.
func (s *separateStage) launch(ctx context.Context) error {
	var err error
	s.hub, err = startHub(ctx, s.programs.hub, s.directory, s.kubeconfig, s.controller)
	return err
}

// retire stops the hub, if it runs, and notes the most memory it had.
func (s *separateStage) retire() error {
	if s.hub == nil {
		return nil
	}
	peak, err := s.hub.memory()
	if err != nil {
		return err
	}
	scenario := s.scenario + "-memory"
	if before, _ := s.run.Value(scenario + "/peak"); float64(peak) > before {
		s.run.Add(scenario, "peak", report.Bytes, float64(peak))
	}
	err = s.hub.stop()
	s.hub = nil
	return err
}

// finish waits until the hub is quiet and has sent its Events, and returns what it did since the begin of the window.
func (s *separateStage) finish(ctx context.Context, scenario string, w window) (*outcome, error) {
	if _, err := s.observer.settle(ctx, s.hub.process); err != nil {
		return nil, fmt.Errorf("waiting until the hub is quiet: %w", err)
	}
	spent, after, err := s.hub.drain(ctx, lull)
	if err != nil {
		return nil, fmt.Errorf("waiting until the hub has sent its Events: %w", err)
	}
	o := &outcome{changes: s.observer.since(w.mark), cpu: spent - w.cpu}
	o.writes = count(o.changes)
	if len(o.changes) > 0 {
		o.last = o.changes[len(o.changes)-1].at.Sub(w.begin)
	}
	o.requests = after.written() - w.counters.written()
	o.outdated = less(after.grants, w.counters.grants)["outdated"]
	s.run.AddTime(scenario, "cpu", o.cpu)
	s.run.Add(scenario, "writes", report.Count, float64(o.writes.total()))
	s.run.Add(scenario, "requests", report.Count, o.requests)
	s.logf("%s: cpu %.3f s, %d writes %v, %.0f requests, last write after %.3f s", scenario, o.cpu.Seconds(), o.writes.total(), o.writes,
		o.requests, o.last.Seconds())
	return o, nil
}

// open begins a scenario over a running hub.
func (s *separateStage) open(ctx context.Context) (window, error) {
	counters, err := s.hub.counters(ctx)
	if err != nil {
		return window{}, err
	}
	spent, err := s.hub.cpu()
	return window{begin: time.Now(), mark: s.observer.mark(), cpu: spent, counters: counters}, err
}

// wantWrites fails the benchmark for every write more or less than needed.
func (s *separateStage) wantWrites(scenario string, o *outcome, want writes) {
	if !maps.Equal(o.writes, want) {
		s.failf("%s: wrote %v, needed are %v", scenario, o.writes, want)
	}
}

func (s *separateStage) addPerEvent(scenario string, o *outcome, n int) {
	s.run.Add(scenario, "events", report.Count, float64(n))
	s.run.AddTime(scenario, "cpu-per-event", o.cpu/time.Duration(n))
	s.run.Add(scenario, "writes-per-event", report.Count, float64(o.writes.total())/float64(n))
}

// turn is what a running program is measured for.
type turn func(ctx context.Context, p *process) error

// restart starts the hub and the ideal, which has the flags, over what the hub has settled: both have nothing to write. They take turns,
// because the speed of a shared machine changes, and each is then measured for its turn, if it has one. In the end neither runs.
func (s *separateStage) restart(ctx context.Context, scenario string, ofHub, ofIdeal turn, flags ...string) error {
	var hubs, ideals []start
	for range startsOfSystem {
		one, err := s.startAgain(ctx, scenario)
		if err != nil {
			return err
		}
		hubs = append(hubs, one)
		if err := ofHub.take(ctx, s.hub.process); err != nil {
			return err
		}
		if err := s.retire(); err != nil {
			return err
		}
		p, ideal, err := s.startIdeal(ctx, flags...)
		if err != nil {
			return err
		}
		ideals = append(ideals, ideal)
		if err := ofIdeal.take(ctx, p); err != nil {
			p.kill()
			return err
		}
		if err := p.stop(); err != nil {
			return err
		}
	}
	idealScenario := s.scenario + "-ideal-restart"
	s.logf("%s: %s", scenario, addStarts(s.run, scenario, hubs))
	s.logf("%s: %s", idealScenario, addStarts(s.run, idealScenario, ideals))
	return nil
}

// take calls the function, unless it is nil.
func (t turn) take(ctx context.Context, p *process) error {
	if t == nil {
		return nil
	}
	return t(ctx, p)
}

// startAgain stops the hub, starts it, and fails the benchmark for every write.
func (s *separateStage) startAgain(ctx context.Context, scenario string) (start, error) {
	if err := s.retire(); err != nil {
		return start{}, err
	}
	w := window{begin: time.Now(), mark: s.observer.mark()}
	if err := s.launch(ctx); err != nil {
		return start{}, err
	}
	if err := s.hub.awaitReady(ctx); err != nil {
		return start{}, fmt.Errorf("waiting until the hub is ready: %w", err)
	}
	one := start{ready: time.Since(w.begin)}
	if err := s.observer.comeUp(ctx, s.hub.process, &one); err != nil {
		return start{}, err
	}
	o, err := s.finish(ctx, scenario, w)
	if err != nil {
		return start{}, err
	}
	s.wantWrites(scenario, o, writes{})
	return one, nil
}

// startIdeal starts the ideal with further flags.
func (s *separateStage) startIdeal(ctx context.Context, flags ...string) (*process, start, error) {
	var one start
	p, err := s.observer.startIdeal(ctx, &one, s.programs.ideal, append([]string{"--kubeconfig=" + s.kubeconfig}, flags...)...)
	return p, one, err
}
