// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// upstreamName is the name of the scenario with the placement controller of Open Cluster Management. It is measured only if it is named, because
// that controller has to be built: make assets-upstream.
const upstreamName = "upstream"

// upstreamRate is the rate limit of its client in requests per second, which is 50 by default. The hub has none.
const upstreamRate = "100000"

// upstream measures the placement controller of Open Cluster Management on the objects of the hub: a cold start without decisions, a restart over
// what it has settled, and the changes of a label. What it decides is not compared with the reference.
func (s *stage) upstream(ctx context.Context) error {
	found, err := binaries.FindOCM(binaries.UpstreamPlacement)
	if err != nil {
		return fmt.Errorf("looking for the placement controller of Open Cluster Management: %w", err)
	}
	if err := s.retire(); err != nil {
		return err
	}
	if err := s.wipe(ctx); err != nil {
		return err
	}
	p, err := s.upstreamColdStart(ctx, found.Path)
	defer func() {
		if p != nil {
			p.kill()
		}
	}()
	if err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if p, err = s.upstreamRestart(ctx, found.Path); err != nil {
		return err
	}
	return errors.Join(s.upstreamLabelChange(ctx, p), p.stop())
}

// startUpstream starts the controller as an admin: the ServiceAccount of the hub lacks rights that only upstream needs.
func (s *stage) startUpstream(ctx context.Context, binary string) (*process, error) {
	kubeconfig := filepath.Join(s.directory, "kubeconfig-admin-"+s.size.String())
	content, err := localplane.Kubeconfig(s.environment.AdminConfig())
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return nil, err
	}
	address, err := loopback.FreeAddress(ctx) // With port 0 it does not start.
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, binary, "controller", "--kubeconfig="+kubeconfig, "--namespace="+manifests.Namespace, "--disable-leader-election",
		"--listen="+address, "--kube-api-qps="+upstreamRate, "--kube-api-burst="+upstreamRate)
}

// upstreamColdStart starts it on a fleet without a decision, until it is quiet.
func (s *stage) upstreamColdStart(ctx context.Context, binary string) (*process, error) {
	const scenario = "upstream-cold-start"
	mark, begin := s.observer.mark(), time.Now()
	p, err := s.startUpstream(ctx, binary)
	if err != nil {
		return nil, err
	}
	if err := s.awaitStatuses(whileRunning(ctx, p), mark); err != nil {
		return p, errors.Join(fmt.Errorf("%s: %w", scenario, err), p.ended())
	}
	if _, err := s.settle(ctx, p); err != nil {
		return p, fmt.Errorf("%s: %w", scenario, err)
	}
	spent, err := p.cpu()
	if err != nil {
		return p, err
	}
	changes := s.observer.since(mark)
	last := changes[len(changes)-1].at.Sub(begin)
	s.run.AddTime(scenario, "seconds", last)
	s.run.AddTime(scenario, "cpu", spent)
	s.run.Add(scenario, "writes", report.Count, float64(count(changes).total()))
	s.logf("%s: last write after %.1f s, cpu %.1f s, writes %v", scenario, last.Seconds(), spent.Seconds(), count(changes))
	return p, nil
}

// whileRunning returns a context that ends with a program.
func whileRunning(ctx context.Context, p *process) context.Context {
	running, end := context.WithCancel(ctx)
	go func() {
		defer end()
		select {
		case <-p.done:
		case <-ctx.Done():
		}
	}()
	return running
}

// upstreamRestart starts it over what it has settled.
func (s *stage) upstreamRestart(ctx context.Context, binary string) (*process, error) {
	const scenario = "upstream-restart"
	mark := s.observer.mark()
	p, err := s.startUpstream(ctx, binary)
	if err != nil {
		return nil, err
	}
	measured := start{}
	if err := s.comeUp(ctx, p, &measured); err != nil {
		return p, errors.Join(fmt.Errorf("%s: %w", scenario, err), p.ended())
	}
	measured.ready = measured.quiet // It is ready before it has evaluated anything.
	s.addStarts(scenario, []start{measured})
	s.run.Add(scenario, "writes", report.Count, float64(count(s.observer.since(mark)).total()))
	return p, nil
}

// upstreamLabelChange changes the label as for the hub.
func (s *stage) upstreamLabelChange(ctx context.Context, p *process) error {
	const scenario = "upstream-label-change"
	l := &latencies{}
	each, n, err := s.cpuPerEvent(ctx, p, func() (int, error) { return s.toggles(ctx, l) })
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", scenario, err), p.ended())
	}
	s.addLatencies(scenario, l)
	s.run.Add(scenario, "events", report.Count, float64(n))
	s.run.AddTime(scenario, "cpu-per-event", each)
	for _, figure := range []string{"label-change/last-p50", "label-change/cpu-per-event", "cold-start/seconds", "restart/quiet"} {
		ours, measured := s.run.Value(figure)
		theirs, _ := s.run.Value("upstream-" + figure)
		if measured && ours > 0 {
			s.run.Add(upstreamName, figure+"-over-hub", report.Ratio, theirs/ours)
		}
	}
	return nil
}
