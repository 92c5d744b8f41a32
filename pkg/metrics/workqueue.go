// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Workqueue has the series workqueue_* of one queue, which controller-runtime declares. It is safe for concurrent use.
type Workqueue struct {
	depth                  *prometheus.GaugeVec
	added, retried         prometheus.Counter
	waited, took           prometheus.Observer
	unfinished, longestRun prometheus.Gauge
}

// workqueueSeries are the series of all queues.
type workqueueSeries struct {
	depth                  *prometheus.GaugeVec
	added, retried         *prometheus.CounterVec
	waited, took           *prometheus.HistogramVec
	unfinished, longestRun *prometheus.GaugeVec
}

// ofWorkqueues returns the series, which controller-runtime has registered when a program begins. The texts of their help are those of
// controller-runtime, because a registry returns the known series only for an equal description.
var ofWorkqueues = sync.OnceValue(func() workqueueSeries {
	labels := []string{"name", "controller"}
	gauges := func(name, help string, more ...string) *prometheus.GaugeVec {
		return registered(prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help},
			append(labels[:2:2], more...)))
	}
	counters := func(name, help string) *prometheus.CounterVec {
		return registered(prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, labels))
	}
	histograms := func(name, help string) *prometheus.HistogramVec {
		return registered(prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, labels))
	}

	return workqueueSeries{
		depth:  gauges(metrics.DepthKey, "Current depth of workqueue by workqueue and priority", "priority"),
		added:  counters(metrics.AddsKey, "Total number of adds handled by workqueue"),
		waited: histograms(metrics.QueueLatencyKey, "How long in seconds an item stays in workqueue before being requested"),
		took:   histograms(metrics.WorkDurationKey, "How long in seconds processing an item from workqueue takes."),
		unfinished: gauges(metrics.UnfinishedWorkKey, "How many seconds of work has been done that is in progress and hasn't been observed "+
			"by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which "+
			"this increases."),
		longestRun: gauges(metrics.LongestRunningProcessorKey, "How many seconds has the longest running processor for workqueue been running."),
		retried: counters(metrics.RetriesKey,
			"Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)"),
	}
})

// registered returns the collector that the registry has for the series of another one. It panics if the registry has none, which a test
// of this package shows after an update of controller-runtime.
func registered[C prometheus.Collector](series C) C {
	var known prometheus.AlreadyRegisteredError
	if err := metrics.Registry.Register(series); !errors.As(err, &known) {
		panic(errors.Join(errors.New("controller-runtime does not have a series workqueue_* with this help"), err))
	}
	collector, ok := known.ExistingCollector.(C)
	if !ok {
		panic("controller-runtime has a series workqueue_* of another type")
	}
	return collector
}

// NewWorkqueue returns the series of the queue with a name.
func NewWorkqueue(name string) *Workqueue {
	all := ofWorkqueues()
	return &Workqueue{
		depth: all.depth.MustCurryWith(prometheus.Labels{"name": name, "controller": name}),
		added: all.added.WithLabelValues(name, name), retried: all.retried.WithLabelValues(name, name),
		waited: all.waited.WithLabelValues(name, name), took: all.took.WithLabelValues(name, name),
		unfinished: all.unfinished.WithLabelValues(name, name), longestRun: all.longestRun.WithLabelValues(name, name),
	}
}

// Added counts an item that became ready.
func (w *Workqueue) Added(priority int) {
	w.added.Inc()
	w.at(priority).Inc()
}

// Moved counts an item whose priority has changed while it was ready.
func (w *Workqueue) Moved(from, to int) {
	w.at(from).Dec()
	w.at(to).Inc()
}

// Taken counts an item that was handed out, and that was ready for so long.
func (w *Workqueue) Taken(priority int, waited time.Duration) {
	w.at(priority).Dec()
	w.waited.Observe(waited.Seconds())
}

// Done observes how long an item was processed.
func (w *Workqueue) Done(took time.Duration) { w.took.Observe(took.Seconds()) }

// Retried counts an item that was added with a delay.
func (w *Workqueue) Retried() { w.retried.Inc() }

// Unfinished sets how long all items that are processed now have been processed, in total and at most.
func (w *Workqueue) Unfinished(total, longest time.Duration) {
	w.unfinished.Set(total.Seconds())
	w.longestRun.Set(longest.Seconds())
}

func (w *Workqueue) at(priority int) prometheus.Gauge {
	return w.depth.WithLabelValues(strconv.Itoa(priority))
}
