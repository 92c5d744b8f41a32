// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// evaluationBuckets range from 10 µs, the duration for a small Placement, to 10 s, which CEL over a large fleet may take, in seconds.
var evaluationBuckets = []float64{
	10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// latencyBuckets range from the time of one write to the minutes for which a hub may be behind, in seconds.
var latencyBuckets = []float64{
	2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.15, 0.25, 0.4, 0.6, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600,
}

const causes = "by the kind of object whose change it is for: cluster, scores, clusterset, binding, placement, decision; " +
	"unconfirmed_write is a write of which no event came and which the API server does not show, comparison and divergence are " +
	"those of the comparison with the reference"

var (
	enqueues = counters(hub+"enqueues_total", "Placements added to the queue, "+causes+".", "cause")

	coalesced = counters(hub+"enqueues_coalesced_total",
		"Changes that added no placement to the queue, because it was there already, by the causes of "+hub+"enqueues_total.", "cause")

	evaluations = counters(hub+"evaluations_total",
		"Evaluations of placements, by the cause of the earliest change that they are for (time: no change, but something was due) and by "+
			"result: changed (something was written), unchanged (nothing was to write), outdated (to be made again on a newer view), error.",
		"cause", "result")

	// NotSynced counts evaluations that were postponed because the initial lists were incomplete.
	NotSynced = counter(hub+"evaluations_not_synced_total",
		"Evaluations put off because the initial lists of objects were not complete.")

	evaluationDuration = histogram(hub+"evaluation_duration_seconds",
		"How long the evaluation of a placement took, from its request to the plan of what to write, in seconds.", evaluationBuckets)

	latencies = histograms(hub+"decision_latency_seconds",
		"The time from the arrival of a change in the hub to the last write of the evaluation that acted on it, in seconds, by the cause of "+
			"the earliest change that it acted on. Evaluations that write nothing are not in it, nor are the initial lists.",
		latencyBuckets, "cause")
)

// Outcome is the result of an evaluation.
type Outcome uint8

// The values of Outcome.
const (
	Changed Outcome = iota
	Unchanged
	Outdated
	Failed
)

var outcomes = [...]string{"changed", "unchanged", "outdated", "error"}

// Cause is a reason to enqueue Placements, with the series that have it as a label.
type Cause struct {
	name                string
	enqueued, coalesced prometheus.Counter
	evaluations         [len(outcomes)]prometheus.Counter
	latency             prometheus.Observer
}

// known has the causes by name.
var known = struct {
	mu     sync.RWMutex
	causes map[string]*Cause
}{causes: map[string]*Cause{}}

// CauseOf returns the Cause of a name, and creates it first if necessary. Names must be few, because they are label values; "time" means
// that no object has changed. It is safe for concurrent use.
func CauseOf(name string) *Cause {
	known.mu.RLock()
	cause := known.causes[name]
	known.mu.RUnlock()
	if cause != nil {
		return cause
	}
	known.mu.Lock()
	defer known.mu.Unlock()

	if cause := known.causes[name]; cause != nil {
		return cause
	}
	cause = &Cause{
		name: name, enqueued: enqueues.WithLabelValues(name), coalesced: coalesced.WithLabelValues(name), latency: latencies.WithLabelValues(name),
	}
	for outcome, word := range outcomes {
		cause.evaluations[outcome] = evaluations.WithLabelValues(name, word)
	}
	known.causes[name] = cause
	return cause
}

// String returns the name.
func (c *Cause) String() string { return c.name }

// Enqueued counts Placements that were added to the queue, and Placements that were in it already.
func (c *Cause) Enqueued(put, there int) {
	c.enqueued.Add(float64(put))
	c.coalesced.Add(float64(there))
}

// Evaluated counts an evaluation.
func (c *Cause) Evaluated(outcome Outcome) { c.evaluations[outcome].Inc() }

// ObserveLatency records the time between a change and the last write that followed it; negative durations count as 0.
func (c *Cause) ObserveLatency(d time.Duration) { c.latency.Observe(max(d, 0).Seconds()) }
