// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/placement-hub/placement-hub/test/benchmark/admission"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

const (
	// rounds is how often hub and floor take turns, so that what else the machine does meets both.
	rounds = 10
	// samplesAlone and samplesOfLoad are the creations of a round: by one client, and by clientsOfLoad at once.
	samplesAlone  = 200
	samplesOfLoad = 500
	clientsOfLoad = 8
	// warmUp is the number of creations before the first round.
	warmUp = 500
)

// measured is what the creations of one side took.
type measured struct {
	each    []time.Duration
	elapsed time.Duration
	cpu     time.Duration // of the webhook
}

func (m *measured) add(other measured) {
	m.each = append(m.each, other.each...)
	m.elapsed += other.elapsed
	m.cpu += other.cpu
}

// side has the workloads that one webhook reviews.
type side struct {
	prefix  string // of the figures
	name    string
	webhook *process
}

// latencies measures creations that the hub reviews beside those that the floor reviews. It fails if the hub is asked more than once about
// a creation.
func (r *reviews) latencies(ctx context.Context) error {
	sides := []side{{"", admission.HubSide, r.hub.process}, {"floor-", admission.FloorSide, r.floor}}
	for _, side := range sides {
		if _, err := r.load(ctx, side.name, clientsOfLoad, warmUp); err != nil {
			return err
		}
	}
	before, err := r.hub.counters(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(r.turns(ctx, sides, "", 1, samplesAlone), r.turns(ctx, sides, "load-", clientsOfLoad, samplesOfLoad)); err != nil {
		return err
	}
	after, err := r.hub.counters(ctx)
	if err != nil {
		return err
	}
	if got, want := int(after.reviews-before.reviews), rounds*(samplesAlone+samplesOfLoad); got != want {
		return fmt.Errorf("the hub has answered %d reviews about %d creations", got, want)
	}
	return nil
}

// turns has the sides create n Deployments each in every round, one side after the other.
func (r *reviews) turns(ctx context.Context, sides []side, prefix string, clients, n int) error {
	all := make([]measured, len(sides))
	for range rounds {
		for i, side := range sides {
			before, err := side.webhook.cpu()
			if err != nil {
				return err
			}
			round, err := r.load(ctx, side.name, clients, n)
			if err != nil {
				return err
			}
			after, err := side.webhook.cpu()
			if err != nil {
				return err
			}
			round.cpu = after - before
			all[i].add(round)
		}
	}
	for i, side := range sides {
		r.note(prefix+side.prefix, &all[i])
	}
	// What the floor needs is the cost of HTTPS and of the body.
	own := all[0].cpu - all[1].cpu
	r.run.AddTime(admissionScenario, prefix+"own-cpu-per-review", own/time.Duration(len(all[0].each)))
	return nil
}

// note adds the figures of one side.
func (r *reviews) note(prefix string, m *measured) {
	r.run.AddTime(admissionScenario, prefix+"p50", report.Percentile(m.each, 50))
	r.run.AddTime(admissionScenario, prefix+"p99", report.Percentile(m.each, 99))
	r.run.Add(admissionScenario, prefix+"reviews-per-second", report.Count, float64(len(m.each))/m.elapsed.Seconds())
	r.run.AddTime(admissionScenario, prefix+"cpu-per-review", m.cpu/time.Duration(len(m.each)))
	r.logf("%sp50 %v, p99 %v, %.0f reviews per second, cpu per review %v", prefix, report.Percentile(m.each, 50),
		report.Percentile(m.each, 99), float64(len(m.each))/m.elapsed.Seconds(), m.cpu/time.Duration(len(m.each)))
}

// load creates n Deployments of a side, by several clients at once. It fails if a policy was not injected, or was injected on the side of
// the floor.
func (r *reviews) load(ctx context.Context, side string, clients, n int) (measured, error) {
	var (
		next atomic.Int64
		mu   sync.Mutex
		m    measured
	)
	begin := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range clients {
		group.Go(func() error {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				start := time.Now()
				injected, err := r.create(ctx, side, i)
				if err != nil {
					return err
				}
				if injected != (side == admission.HubSide) {
					return fmt.Errorf("policies are injected into Deployment %d of the side %s: %t", i, side, injected)
				}
				mu.Lock()
				m.each = append(m.each, time.Since(start))
				mu.Unlock()
			}
			return nil
		})
	}
	err := group.Wait()
	m.elapsed = time.Since(begin)
	return m, err //nolint:wrapcheck // The creations are named.
}
