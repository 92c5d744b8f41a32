package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// upstreamBuckets are the buckets of the upstream controller: ten powers of ten from a microsecond, in seconds.
var upstreamBuckets = prometheus.ExponentialBuckets(1e-6, 10, 10)

var (
	schedulingDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: "scheduling", Name: "scheduling_duration_seconds", Buckets: upstreamBuckets,
		Help: "How long the evaluation of a placement took, in seconds.",
	}, []string{"name"})

	bindDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: "scheduling", Name: "bind_duration_seconds", Buckets: upstreamBuckets,
		Help: "How long writing the decisions of a placement took, in seconds.",
	}, []string{"name"})

	// WakeUps counts placements put into the queue, by the kind of object whose change woke them.
	WakeUps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "placement_hub", Name: "wakeups_total",
		Help: "Placements put into the queue, by the kind of object whose change woke them.",
	}, []string{"cause"})

	// NotSynced counts evaluations that were put off because the initial lists were not complete.
	NotSynced = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "placement_hub", Name: "evaluations_not_synced_total",
		Help: "Evaluations put off because the initial lists of objects were not complete.",
	})

	// Writes counts requests that change objects.
	Writes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "placement_hub", Name: "writes_total",
		Help: "Requests that change PlacementDecisions or the status of Placements, by kind and by result (ok, outdated, error).",
	}, []string{"kind", "result"})
)

func init() {
	metrics.Registry.MustRegister(schedulingDuration, bindDuration, WakeUps, NotSynced, Writes)
}

// ObserveScheduling notes how long an evaluation took.
func ObserveScheduling(d time.Duration) {
	schedulingDuration.WithLabelValues("placement_scheduling").Observe(d.Seconds())
}

// ObserveBind notes how long the writes of one evaluation took.
func ObserveBind(d time.Duration) {
	bindDuration.WithLabelValues("placement_bind").Observe(d.Seconds())
}
