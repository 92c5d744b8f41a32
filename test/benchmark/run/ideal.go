// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// tell records what the hub writes after the label change, for the ideal controller: with the label and without it.
func (s *stage) tell(ctx context.Context) (*precomputed.Script, error) {
	script := &precomputed.Script{
		Cluster: fleet.ClusterName(fleet.SteeredCluster), Label: fleet.Concern, ByValue: map[string][]precomputed.Decisions{},
	}
	for _, value := range []string{"yes", ""} {
		if err := s.toggle(ctx, value != "", &latencies{}); err != nil {
			return nil, err
		}
		if _, err := s.settle(ctx, s.hub.process); err != nil {
			return nil, err
		}
		all, err := s.decisions(ctx)
		if err != nil {
			return nil, err
		}
		script.ByValue[value] = s.concerned(all)
	}
	// Both are written over what is there when the ideal starts.
	now := map[types.UID]string{}
	for _, a := range script.ByValue[""] {
		now[a.Placement.UID] = a.Placement.ResourceVersion
		for i := range a.Pages {
			now[a.Pages[i].UID] = a.Pages[i].ResourceVersion
		}
	}
	for i := range script.ByValue["yes"] {
		a := &script.ByValue["yes"][i]
		a.Placement.ResourceVersion = now[a.Placement.UID]
		for i := range a.Pages {
			a.Pages[i].ResourceVersion = now[a.Pages[i].UID]
		}
	}
	return script, nil
}

// concerned returns the decisions of the placements that the label concerns.
func (s *stage) concerned(all []precomputed.Decisions) []precomputed.Decisions {
	names := map[types.NamespacedName]bool{}
	for i := range fleet.Concerned {
		placement := s.size.Placement(i)
		names[types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}] = true
	}
	var found []precomputed.Decisions
	for _, a := range all {
		if names[types.NamespacedName{Namespace: a.Placement.Namespace, Name: a.Placement.Name}] {
			found = append(found, a)
		}
	}
	return found
}

// ideal measures the controller that writes given decisions, over the objects as the hub left them. The hub is stopped for it.
func (s *stage) ideal(ctx context.Context) error {
	script, err := s.tell(ctx)
	if err != nil {
		return err
	}
	if err := s.retire(); err != nil {
		return err
	}
	path := filepath.Join(s.directory, "decisions-"+s.size.String()+".json")
	if err := script.WriteFile(path); err != nil {
		return err
	}
	var p *process
	defer func() {
		if p != nil {
			p.kill()
		}
	}()
	var starts []start
	for len(starts) < s.starts() {
		if p != nil {
			if err := p.stop(); err != nil {
				return err
			}
		}
		one := start{}
		if p, err = s.startIdeal(ctx, path, &one); err != nil {
			return err
		}
		starts = append(starts, one)
	}
	s.addStarts("ideal-restart", starts)
	if err := s.idealLabelChange(ctx, p); err != nil {
		return err
	}
	if err := s.idealHeartbeats(ctx, p, idealRate); err != nil {
		return err
	}
	return errors.Join(p.stop(), s.verify(ctx, "ideal"))
}

// startIdeal starts the ideal and waits until its caches are in sync and it is quiet.
func (s *stage) startIdeal(ctx context.Context, decisions string, measured *start) (*process, error) {
	return s.observer.startIdeal(ctx, measured, s.programs.ideal, "--kubeconfig="+s.kubeconfig, "--decisions="+decisions)
}

func (o *observer) startIdeal(ctx context.Context, measured *start, binary string, flags ...string) (*process, error) {
	p, err := startProcess(ctx, binary, flags...)
	if err != nil {
		return nil, err
	}
	if err := p.awaitOutput(ctx, func(text string) bool { return strings.Contains(text, "synced") }); err != nil {
		p.kill()
		return nil, err
	}
	measured.ready = time.Since(p.begin)
	if err := o.comeUp(ctx, p, measured); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// idealLabelChange changes the label as for the hub.
func (s *stage) idealLabelChange(ctx context.Context, p *process) error {
	const scenario = "ideal-label-change"
	l := &latencies{}
	each, _, err := s.cpuPerEvent(ctx, p, func() (int, error) { return s.toggles(ctx, l) })
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", scenario, err), p.ended())
	}
	s.addLatencies(scenario, l)
	s.run.AddTime(scenario, "cpu-per-event", each)
	s.logf("%s: cpu per event %v", scenario, each)
	return nil
}

// idealRate is how many heartbeats per second the ideal is sent: as many as the busiest scenario of the hub.
const idealRate = 100

// idealHeartbeats sends heartbeats as to the hub.
func (s *stage) idealHeartbeats(ctx context.Context, p *process, rate int) error {
	scenario := fmt.Sprintf("ideal-heartbeats-%d", rate)
	each, n, err := s.cpuPerEvent(ctx, p, func() (int, error) { return s.beat(ctx, rate, beatFor, nil) })
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", scenario, err), p.ended())
	}
	s.run.Add(scenario, "heartbeats", report.Count, float64(n))
	s.run.AddTime(scenario, "cpu-per-heartbeat", each)
	s.logf("%s: cpu per heartbeat %v", scenario, each)
	return nil
}

// cpuPerEvent is the CPU time that a process takes for each of the events that are made, until it is quiet, and how many they are.
func (s *stage) cpuPerEvent(ctx context.Context, p *process, events func() (int, error)) (time.Duration, int, error) {
	return s.observer.cpuPerEvent(ctx, p, events)
}

func (o *observer) cpuPerEvent(ctx context.Context, p *process, events func() (int, error)) (time.Duration, int, error) {
	before, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	n, err := events()
	if err != nil {
		return 0, 0, err
	}
	if _, err := o.settle(ctx, p); err != nil {
		return 0, 0, err
	}
	after, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	return (after - before) / time.Duration(n), n, nil
}
