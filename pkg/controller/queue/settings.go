package queue

import (
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
)

// firstRetry and longestRetry bound the time until something that failed is tried again.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = time.Minute
)

// Settings are common to all controllers of a hub. Every field but Tracing is set.
type Settings struct {
	// Namespace is where the hub keeps objects of its own.
	Namespace string
	// Workers is how many requests a controller works on at the same time.
	Workers int
	// Patience is how long one request may take with all that it writes.
	Patience time.Duration
	// Clock is the time.
	Clock clock.PassiveClock
	// Tracing takes spans; nil for no traces.
	Tracing trace.TracerProvider
}

// Queue is how a controller works its queue.
func Queue[request comparable](s Settings) ctrlcontroller.TypedOptions[request] {
	return ctrlcontroller.TypedOptions[request]{
		MaxConcurrentReconciles: s.Workers,
		ReconciliationTimeout:   s.Patience,
		// What fails is tried again within a minute, so that what is due at a time is not late by more than that.
		RateLimiter:        workqueue.NewTypedItemExponentialFailureRateLimiter[request](firstRetry, longestRetry),
		NeedLeaderElection: ptr.To(true),
		EnableWarmup:       ptr.To(true),
		// A test may run several hubs in one process.
		SkipNameValidation: ptr.To(true),
	}
}

// OneAtATime is Queue for a controller whose requests must not be worked on at the same time.
func OneAtATime[request comparable](s Settings) ctrlcontroller.TypedOptions[request] {
	s.Workers = 1

	return Queue[request](s)
}
