// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

const (
	// calm is how long nothing may be written, and next to nothing computed, for a program to count as quiet.
	calm = 2 * time.Second
	// busy is the part of a CPU from which on a program computes something, and busyInterval how long it is measured. It counts from the second
	// time in a row on: a hub compares a Placement with the reference now and then, which takes a few milliseconds.
	busy         = 0.2
	busyInterval = 50 * time.Millisecond
	// lull is how long no Event may be sent for all to be sent: a second is the longest pause between two.
	lull = 1500 * time.Millisecond
	// longest is how long one scenario may take before it counts as stuck.
	longest = time.Hour
)

// stage is a control plane with a fleet of one size, and what is measured on it.
type stage struct {
	size        fleet.Size
	programs    programs
	directory   string
	environment *localplane.ControlPlane
	api         client.WithWatch
	observer    *observer
	kubeconfig  string // of the hub's ServiceAccount
	hub         *hub
	// idle is the part of a CPU that the hub needs when nothing happens.
	idle float64
	run  *report.Run
	// cold are the decisions that a cold start came to, as they are to be written again.
	cold     []precomputed.Decisions
	events   int // that the cold start sent
	failures []string
	log      io.Writer
	// balanced are the placements whose decisions depend on those of others.
	balanced map[types.NamespacedName]bool
}

// programs are the binaries that are measured.
type programs struct {
	hub, ideal, allow string
}

// newStage starts a control plane and creates the fleet.
func newStage(ctx context.Context, size fleet.Size, programs programs, directory string, log io.Writer) (*stage, error) {
	s := &stage{
		size: size, programs: programs, directory: directory, log: log, run: &report.Run{Size: size},
		kubeconfig: filepath.Join(directory, "kubeconfig-"+size.String()), balanced: map[types.NamespacedName]bool{},
	}
	for i := range size.Placements {
		placement := size.Placement(i)
		s.balanced[client.ObjectKeyFromObject(placement)] = fleet.Balanced(placement)
	}
	var err error
	if size.Large() {
		s.environment, err = s.startKept(ctx)
	} else {
		s.environment, err = s.startFilled(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	if err := s.furnish(ctx); err != nil {
		return nil, errors.Join(err, s.environment.Stop())
	}
	return s, nil
}

// startFilled starts a control plane in a directory, or in a temporary one, and creates the fleet.
func (s *stage) startFilled(ctx context.Context, directory string) (*localplane.ControlPlane, error) {
	environment, err := localplane.Start(ctx, localplane.Options{DataDir: directory})
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, environment); err != nil {
		return nil, errors.Join(err, environment.Stop())
	}
	return environment, nil
}

// fill installs the hub and creates the fleet.
func (s *stage) fill(ctx context.Context, environment *localplane.ControlPlane) error {
	if err := manifests.Install(ctx, environment.AdminConfig()); err != nil {
		return err
	}
	api, err := client.New(environment.AdminConfig(), client.Options{Scheme: system.Scheme()})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	begin := time.Now()
	if err := populate(ctx, api, s.size); err != nil {
		return err
	}
	s.logf("made %d clusters and %d placements in %.1f s", s.size.Clusters, s.size.Placements, time.Since(begin).Seconds())
	return nil
}

// furnish makes what the scenarios work with.
func (s *stage) furnish(ctx context.Context) error {
	err := writeKubeconfig(ctx, s.environment, manifests.Namespace, manifests.ServiceAccount, s.kubeconfig)
	if err != nil {
		return err
	}
	if s.api, err = client.NewWithWatch(s.environment.AdminConfig(), client.Options{Scheme: system.Scheme()}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	s.observer, err = observe(ctx, s.api, decisionKind, placementKind)
	return err
}

// writeKubeconfig writes the kubeconfig of a ServiceAccount to a file.
func writeKubeconfig(ctx context.Context, environment *localplane.ControlPlane, namespace, name, path string) error {
	account, err := environment.ServiceAccountConfig(ctx, namespace, name)
	if err != nil {
		return err
	}
	content, err := localplane.Kubeconfig(account)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// close ends everything of the stage.
func (s *stage) close() error {
	if s.hub != nil {
		s.hub.kill()
	}
	return s.environment.Stop()
}

func (s *stage) logf(format string, args ...any) {
	fmt.Fprintf(s.log, "%s %s: %s\n", time.Now().Format(time.TimeOnly), s.size, fmt.Sprintf(format, args...))
}

// failf notes something that is wrong whatever the machine.
func (s *stage) failf(format string, args ...any) {
	failure := fmt.Sprintf(format, args...)
	s.failures = append(s.failures, s.size.String()+": "+failure)
	s.logf("WRONG: %s", failure)
}

// settle is that of the observer.
func (s *stage) settle(ctx context.Context, p *process) (time.Time, error) {
	return s.observer.settle(ctx, p)
}

// window is what the hub had done at the begin of a scenario.
type window struct {
	begin    time.Time
	mark     int
	cpu      time.Duration
	counters counters
}

// open begins a scenario over a running hub.
func (s *stage) open(ctx context.Context) (window, error) {
	counters, err := s.hub.counters(ctx)
	if err != nil {
		return window{}, err
	}
	spent, err := s.hub.cpu()
	return window{begin: time.Now(), mark: s.observer.mark(), cpu: spent, counters: counters}, err
}

// outcome is what the hub did in a scenario.
type outcome struct {
	cpu         time.Duration // less what it needs when nothing happens
	last        time.Duration // from the begin to the last write; 0: none
	writes      writes
	changes     []change
	enqueues    map[string]float64 // by cause
	evaluations float64
	requests    float64       // that change something: with events
	events      float64       // that were written
	outdated    float64       // writes for ClusterRequests that conflicted with others
	checks      time.Duration // the median of how long it took to compare a removal with the API server; 0 without any
}

// finish waits until the hub is quiet and has sent its Events, notes what it did, and compares every decision with the reference.
func (s *stage) finish(ctx context.Context, scenario string, w window) (*outcome, error) {
	if _, err := s.settle(ctx, s.hub.process); err != nil {
		return nil, fmt.Errorf("%s: waiting until the hub is quiet: %w", scenario, err)
	}
	spent, after, err := s.hub.drain(ctx, lull)
	if err != nil {
		return nil, fmt.Errorf("%s: waiting until the hub has sent its Events: %w", scenario, err)
	}
	elapsed := time.Since(w.begin)
	o := &outcome{changes: s.observer.since(w.mark)}
	o.cpu = max(spent-w.cpu-time.Duration(s.idle*float64(elapsed)), 0)
	o.writes = count(o.changes)
	if len(o.changes) > 0 {
		o.last = o.changes[len(o.changes)-1].at.Sub(w.begin)
	}
	o.enqueues = less(after.enqueues, w.counters.enqueues)
	o.evaluations = after.evaluations - w.counters.evaluations
	o.requests = after.written() - w.counters.written()
	o.events = less(after.events, w.counters.events)["written"]
	o.checks = median(less(after.checks, w.counters.checks))
	return o, s.verify(ctx, scenario)
}

// add notes what every scenario tells.
func (s *stage) add(scenario string, o *outcome) {
	s.run.AddTime(scenario, "cpu", o.cpu)
	s.run.Add(scenario, "enqueues", report.Count, sum(o.enqueues))
	s.run.Add(scenario, "evaluations", report.Count, o.evaluations)
	s.run.Add(scenario, "writes", report.Count, float64(o.writes.total()))
	for _, kind := range slices.Sorted(maps.Keys(o.writes)) {
		s.run.Add(scenario, kind, report.Count, float64(o.writes[kind]))
	}
	s.run.Add(scenario, "requests", report.Count, o.requests)
	s.logf("%s: cpu %.3f s, enqueues %v, %.0f evaluations, %d writes %v, %.0f requests, last write after %.3f s", scenario,
		o.cpu.Seconds(), o.enqueues, o.evaluations, o.writes.total(), o.writes, o.requests, o.last.Seconds())
}

// verify compares every decision with the reference, or those of a sample of placements in a large fleet.
func (s *stage) verify(ctx context.Context, scenario string) error {
	begin := time.Now()
	reference, err := newReference(ctx, s.api)
	if err != nil {
		return err
	}
	if s.size.Large() {
		reference.sample()
	}
	differences, err := reference.differences(ctx)
	if err != nil {
		return err
	}
	const shown = 5
	for _, difference := range differences[:min(len(differences), shown)] {
		s.failf("after %s: %s", scenario, difference)
	}
	if more := len(differences) - shown; more > 0 {
		s.failf("after %s: and %d more placements differ", scenario, more)
	}
	s.logf("%s: compared %d placements with the reference in %.1f s", scenario, len(reference.placements), time.Since(begin).Seconds())
	return nil
}

// wantWrites fails the benchmark for every write more or less than needed. Those for placements that balance are left out: what they
// decisions depend on those of the others at the time of the evaluation, so that one more evaluation may move them. They are counted apart.
func (s *stage) wantWrites(scenario string, o *outcome, want writes) {
	others := slices.DeleteFunc(slices.Clone(o.changes), func(c change) bool { return s.balanced[c.placement] })
	if got := count(others); !maps.Equal(got, want) {
		s.failf("%s: wrote %v for placements that do not balance, needed are %v", scenario, got, want)
	}
}
