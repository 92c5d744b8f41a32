package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// hub is what the names of our own series begin with.
const hub = "placement_hub"

// upstreamBuckets are the buckets of the upstream controller: ten powers of ten from a microsecond, in seconds.
var upstreamBuckets = prometheus.ExponentialBuckets(1e-6, 10, 10)

var (
	schedulingDurations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: "scheduling", Name: "scheduling_duration_seconds", Buckets: upstreamBuckets,
		Help: "How long the evaluation of a placement took, in seconds.",
	}, []string{"name"})

	bindDurations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: "scheduling", Name: "bind_duration_seconds", Buckets: upstreamBuckets,
		Help: "How long writing the decisions of a placement took, in seconds.",
	}, []string{"name"})

	schedulingDuration = schedulingDurations.WithLabelValues("placement_scheduling")
	bindDuration       = bindDurations.WithLabelValues("placement_bind")

	// WakeUps counts placements put into the queue, by the kind of object whose change woke them.
	WakeUps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: hub, Name: "wakeups_total",
		Help: "Placements put into the queue, by the kind of object whose change woke them.",
	}, []string{"cause"})

	// Coalesced counts wake-ups that put nothing into the queue, by the kind of object whose change they are for.
	Coalesced = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: hub, Name: "wakeups_coalesced_total",
		Help: "Wake-ups of placements that were in the queue already, by the kind of object whose change woke them.",
	}, []string{"cause"})

	// Comparisons counts placements whose answer was compared with that of the reference.
	Comparisons = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: hub, Name: "comparisons_total",
		Help: "Placements evaluated a second time by the straightforward reference, to compare the answers.",
	})

	// Divergences counts comparisons whose answers differed.
	Divergences = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: hub, Name: "divergences_total",
		Help: "Comparisons in which the answers differed. It must be 0.",
	})

	// Events counts Kubernetes events by what became of them.
	Events = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: hub, Name: "events_total",
		Help: "Requests to write Kubernetes events about placements, by result (written, failed), and events given up without one (dropped).",
	}, []string{"result"})

	// NotSynced counts evaluations that were put off because the initial lists were not complete.
	NotSynced = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: hub, Name: "evaluations_not_synced_total",
		Help: "Evaluations put off because the initial lists of objects were not complete.",
	})

	// Writes counts requests that change objects.
	Writes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: hub, Name: "writes_total",
		Help: "Requests that change PlacementDecisions or the status of Placements, by kind and by result (ok, outdated, error).",
	}, []string{"kind", "result"})
)

func init() {
	metrics.Registry.MustRegister(
		schedulingDurations, bindDurations, WakeUps, Coalesced, Comparisons, Divergences, Events, NotSynced, Writes,
	)
}

// ObserveScheduling notes how long an evaluation took.
func ObserveScheduling(d time.Duration) {
	schedulingDuration.Observe(d.Seconds())
}

// ObserveBind notes how long the writes of one evaluation took.
func ObserveBind(d time.Duration) {
	bindDuration.Observe(d.Seconds())
}
