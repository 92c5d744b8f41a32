package queue

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/decision"
)

const (
	// firstOutdatedDelay and longestOutdatedDelay bound how long a key waits for the cache when it was looked at on an old view.
	firstOutdatedDelay   = 100 * time.Millisecond
	longestOutdatedDelay = 10 * time.Second
)

// Retry is the quiet retry of what was done on an old view of the world: no error is logged or counted as one, and a key that keeps
// failing waits longer each time. It is safe for concurrent use.
type Retry[K comparable] struct {
	limiter workqueue.TypedRateLimiter[K]
}

// NewRetry has nothing to try again.
func NewRetry[K comparable]() Retry[K] {
	return Retry[K]{limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[K](firstOutdatedDelay, longestOutdatedDelay)}
}

// Settle ends a pass over a key: an error that says that the view was old becomes a quiet retry, any other is returned.
func (r Retry[K]) Settle(ctx context.Context, key K, err error) (reconcile.Result, error) {
	if decision.Outdated(err) {
		klog.FromContext(ctx).V(4).Info("Looked at an old view; trying again", "err", err)

		return reconcile.Result{RequeueAfter: r.limiter.When(key)}, nil
	}

	if err == nil {
		r.limiter.Forget(key)
	}

	return reconcile.Result{}, err
}
