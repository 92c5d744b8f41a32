package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// evaluationBuckets go from 10 µs, in which a small placement is evaluated, to 10 s, which CEL over a large fleet may take.
var evaluationBuckets = []float64{
	10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// latencyBuckets go from the time of one write to the minutes for which a hub may be behind.
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

	// NotSynced counts evaluations that were put off because the initial lists were not complete.
	NotSynced = counter(hub+"evaluations_not_synced_total",
		"Evaluations put off because the initial lists of objects were not complete.")

	evaluationDuration = histogram(hub+"evaluation_duration_seconds",
		"How long the evaluation of a placement took, from its request to the plan of what to write, in seconds.", evaluationBuckets)

	latencies = histograms(hub+"decision_latency_seconds",
		"The time from the arrival of a change in the hub to the last write of the evaluation that acted on it, in seconds, by the cause of "+
			"the earliest change that it acted on. Evaluations that write nothing are not in it, nor are the initial lists.",
		latencyBuckets, "cause")
)

// Outcome is what came of an evaluation.
type Outcome uint8

// The outcomes.
const (
	Changed Outcome = iota
	Unchanged
	Outdated
	Failed
)

var outcomes = [...]string{"changed", "unchanged", "outdated", "error"}

// Cause is what wakes placements. It has all that is counted by the cause.
type Cause struct {
	name                string
	enqueued, coalesced prometheus.Counter
	evaluations         [len(outcomes)]prometheus.Counter
	latency             prometheus.Observer
}

// known are the causes that were asked for.
var known = struct {
	mu     sync.RWMutex
	causes map[string]*Cause
}{causes: map[string]*Cause{}}

// CauseOf is the cause of a name, which is one of few. The cause of the name "time" is that no object has changed.
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

// String is the name.
func (c *Cause) String() string { return c.name }

// Enqueued counts placements that were put into the queue, and those that were there already.
func (c *Cause) Enqueued(put, there int) {
	c.enqueued.Add(float64(put))
	c.coalesced.Add(float64(there))
}

// Evaluated counts an evaluation.
func (c *Cause) Evaluated(outcome Outcome) { c.evaluations[outcome].Inc() }

// ObserveLatency notes how long after the change the last write was.
func (c *Cause) ObserveLatency(d time.Duration) { c.latency.Observe(max(d, 0).Seconds()) }
