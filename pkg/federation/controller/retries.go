// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	// firstPostponed and longestPostponed bound the backoff of a withdrawal that could not be proved.
	firstPostponed   = time.Second
	longestPostponed = 30 * time.Second
	// firstChanged and longestChanged bound the backoff of objects that have changed since they were evaluated. The first retry is immediate;
	// further ones wait for a watch that is behind.
	firstChanged   = time.Nanosecond
	longestChanged = 10 * time.Second
	// firstMissed begins the backoff of works that cannot be created because the namespace of the cluster does not exist.
	firstMissed = time.Second
	// conflictRetry is how often the hub tries again to write a work whose name another work has. No event reports the end of that one.
	conflictRetry = time.Minute
	// deletionRetry is how often an object that is being deleted looks for clusters that have gone.
	deletionRetry = 10 * time.Second
)

// retries are how long objects wait for the next retry.
type retries struct {
	// postponed is the backoff of withdrawals that could not be proved.
	postponed backoff
	// changed is the backoff of objects that have changed since they were evaluated, and missed that of works that cannot be created yet.
	changed, missed backoff
}

// errChanged means that what was evaluated has changed since, so that the object has to be evaluated again.
var errChanged = errors.New("the object has changed since it was evaluated")

// backoff is how long objects wait for the next retry.
type backoff = workqueue.TypedRateLimiter[inventory.Key]

func newBackoff(first, longest time.Duration) backoff {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[inventory.Key](first, longest)
}

// earlier returns the shorter of two times to wait, of which zero means never.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// newRetries returns the backoffs of a controller without retries.
func newRetries() *retries {
	return &retries{
		postponed: newBackoff(firstPostponed, longestPostponed), changed: newBackoff(firstChanged, longestChanged),
		missed: newBackoff(firstMissed, conflictRetry),
	}
}

// forget ends the backoffs of an object.
func (r *retries) forget(key inventory.Key) {
	for _, retries := range []backoff{r.postponed, r.changed, r.missed} {
		retries.Forget(key)
	}
}
