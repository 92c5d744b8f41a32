// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/queue/fairqueue"
)

// firstRetry and longestRetry bound the backoff of reconciles that returned an error.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = time.Minute
)

// Settings are common to all controllers of a hub. Every field except Tracing and FormerRenewal is set.
type Settings struct {
	// Namespace holds the objects of the hub itself.
	Namespace string
	// Workers is how many requests a controller reconciles at the same time.
	Workers int
	// Timeout is the timeout of one reconcile with all its writes, and of a Placement that of its evaluation and of each of its writes.
	Timeout time.Duration
	// Clock has the time by which tolerations and scores expire.
	Clock clock.PassiveClock
	// FormerRenewal returns when the former leader has renewed the lease last, and zero if there was none; nil if nothing is known of one.
	FormerRenewal func() time.Time
	// Tracing receives spans; nil disables them.
	Tracing trace.TracerProvider
}

// Options returns the options of a controller with several workers.
func Options[request comparable](s Settings) ctrlcontroller.TypedOptions[request] {
	return ctrlcontroller.TypedOptions[request]{
		MaxConcurrentReconciles: s.Workers,
		ReconciliationTimeout:   s.Timeout,
		// The bound also limits how late an evaluation is that is due at a time.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[request](firstRetry, longestRetry),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request] {
			return fairqueue.New(name, s.Workers, limiter, namespaceOf[request])
		},
		NeedLeaderElection: ptr.To(true),
		EnableWarmup:       ptr.To(true),
		// A test may run several hubs in one process.
		SkipNameValidation: ptr.To(true),
	}
}

// namespaceOf returns the namespace of a request, whose keys take turns with those of other namespaces: that of a reconcile.Request, or what
// the method QueueNamespace of the request returns. Requests without one count as one namespace.
func namespaceOf[request comparable](key request) string {
	switch key := any(key).(type) {
	case reconcile.Request:
		return key.Namespace
	case interface{ QueueNamespace() string }:
		return key.QueueNamespace()
	default:
		return ""
	}
}

// SingleWorkerOptions returns the options of a controller with one worker.
func SingleWorkerOptions[request comparable](s Settings) ctrlcontroller.TypedOptions[request] {
	s.Workers = 1
	return Options[request](s)
}
