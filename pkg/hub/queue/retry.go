// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// firstOutdatedDelay and longestOutdatedDelay bound the backoff after a conflict, in which the cache catches up.
	firstOutdatedDelay   = 100 * time.Millisecond
	longestOutdatedDelay = 10 * time.Second
	// firstChangedDelay is the one after a change that the cache shows already.
	firstChangedDelay = time.Millisecond
)

// ConflictBackoff retries reconciles that ended with a conflict. No error is logged or counted, and a key that keeps conflicting waits longer
// each time. It is safe for concurrent use.
type ConflictBackoff[K comparable] struct {
	limiter workqueue.TypedRateLimiter[K]
	changed workqueue.TypedRateLimiter[K]
}

// NewConflictBackoff returns a ConflictBackoff without pending retries.
func NewConflictBackoff[K comparable]() ConflictBackoff[K] {
	return ConflictBackoff[K]{
		limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[K](firstOutdatedDelay, longestOutdatedDelay),
		changed: workqueue.NewTypedItemExponentialFailureRateLimiter[K](firstChangedDelay, longestOutdatedDelay),
	}
}

// Result ends the reconcile of a key: it turns a conflict into a requeue, and returns any other error.
func (c ConflictBackoff[K]) Result(ctx context.Context, key K, err error) (reconcile.Result, error) {
	if Outdated(err) {
		klog.FromContext(ctx).V(4).Info("The objects have changed since they were read; retrying", "err", err)
		return reconcile.Result{RequeueAfter: c.limiter.When(key)}, nil
	}
	if err == nil {
		c.limiter.Forget(key)
		c.changed.Forget(key)
	}
	return reconcile.Result{}, err
}

// Retry ends the reconcile of a key whose object has changed since it was read, where the cache shows the change already. Repeated retries wait
// ever longer, until Result has no error.
func (c ConflictBackoff[K]) Retry(key K) reconcile.Result {
	return reconcile.Result{RequeueAfter: c.changed.When(key)}
}
