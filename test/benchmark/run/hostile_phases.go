// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placement-hub/placement-hub/test/benchmark/hostile"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// hostileRounds is how often the phases take turns.
const hostileRounds = 3

// phase is a time in which the others are measured beside an attacker, or beside nobody.
type phase struct {
	name   string
	beside int // the tenant that attacks; negative for none
	// atRates reports that the tenant sends no more requests per second than the attacker in the same round, however many clients it has.
	atRates bool
	samples map[string][]time.Duration
	// rates are the requests per second of each attack, and cpu is the CPU time of the hub per second.
	rates   map[string]float64
	elapsed time.Duration
	cpu     time.Duration
}

// The phases. In those with the bystander the API server has the requests of the attacker, and the hub has nothing to do for them: at the rate
// of the attacker, and from as many clients as it has, as fast as the API server permits.
const (
	withoutPhase   = "without"
	withPhase      = "with"
	bystanderPhase = "bystander"
	floodPhase     = "flood"
)

// measure measures the others in all phases, which take turns, and reports the ratios.
func (h *hostileStage) measure(ctx context.Context) error {
	h.run.Add(hostileScenario, "tenants", report.Count, hostile.Others+1)
	phases := []*phase{
		{name: withoutPhase, beside: -1}, {name: withPhase, beside: hostile.Attacker},
		{name: bystanderPhase, beside: hostile.Bystander, atRates: true}, {name: floodPhase, beside: hostile.Bystander},
	}
	for range hostileRounds {
		var rates map[string]float64 // of the attacker in this round
		for _, p := range phases {
			limits := rates
			if !p.atRates {
				limits = nil
			}
			got, err := h.phase(ctx, p, limits)
			if err != nil {
				return fmt.Errorf("phase %s: %w", p.name, err)
			}
			if p.beside == hostile.Attacker {
				rates = got
			}
			if err := h.clean(ctx); err != nil {
				return fmt.Errorf("after phase %s: %w", p.name, err)
			}
		}
	}
	for _, p := range phases {
		h.note(p)
	}
	h.compare(phases)
	return h.verify(ctx)
}

// phase measures the others once, beside the attacks of a tenant, which have these rates at most, and returns the rates they had.
func (h *hostileStage) phase(ctx context.Context, p *phase, rates map[string]float64) (map[string]float64, error) {
	before, err := h.hub.cpu()
	if err != nil {
		return nil, err
	}
	stop, err := h.attack(ctx, p.beside, rates)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	samples, err := h.sampleAll(ctx)
	elapsed := time.Since(begin)
	sent, failed := stop()
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	after, err := h.hub.cpu()
	if err != nil {
		return nil, err
	}
	if p.samples == nil {
		p.samples, p.rates = map[string][]time.Duration{}, map[string]float64{}
	}
	for name, times := range samples {
		p.samples[name] = append(p.samples[name], times...)
	}
	got := map[string]float64{}
	for name, n := range sent {
		got[name] = float64(n) / elapsed.Seconds()
		p.rates[name] += float64(n)
	}
	p.elapsed, p.cpu = p.elapsed+elapsed, p.cpu+after-before
	h.logf("%s: phase %s took %.1f s, the hub %.1f s of CPU; sent %v", hostileScenario, p.name, elapsed.Seconds(), (after - before).Seconds(), sent)
	for _, name := range measures {
		h.logf("%s: phase %s: %s p50 %v, p99 %v", hostileScenario, p.name, name, report.Percentile(samples[name], 50),
			report.Percentile(samples[name], 99))
	}
	return got, nil
}

// scenario returns the scenario of the figures of a phase.
func (p *phase) scenario() string { return hostileScenario + "-" + p.name }

// note adds the figures of a phase.
func (h *hostileStage) note(p *phase) {
	for _, name := range measures {
		h.run.Add(p.scenario(), name+"-samples", report.Count, float64(len(p.samples[name])))
		h.run.AddTime(p.scenario(), name+"-p50", report.Percentile(p.samples[name], 50))
		h.run.AddTime(p.scenario(), name+"-p99", report.Percentile(p.samples[name], 99))
	}
	h.run.Add(p.scenario(), "cpus-of-hub", report.Count, p.cpu.Seconds()/p.elapsed.Seconds())
	for _, name := range attackNames {
		if n, sent := p.rates[name]; sent {
			h.run.Add(p.scenario(), name+"-per-second", report.Count, n/p.elapsed.Seconds())
		}
	}
}

// compare adds the ratios of what the others wait with the attacker, over what they wait in the other phases.
func (h *hostileStage) compare(phases []*phase) {
	for _, name := range measures {
		for _, figure := range []string{"-p50", "-p99"} {
			with, _ := h.run.Value(hostileScenario + "-" + withPhase + "/" + name + figure)
			for _, p := range phases {
				if over, found := h.run.Value(p.scenario() + "/" + name + figure); p.name != withPhase && found && over > 0 {
					h.run.Add(hostileScenario, name+figure+"-over-"+p.name, report.Ratio, with/over)
				}
			}
		}
	}
}
