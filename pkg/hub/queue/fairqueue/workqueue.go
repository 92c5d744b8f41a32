// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// Add implements workqueue.TypedInterface.
func (q *Queue[K]) Add(key K) { q.AddWithOpts(priorityqueue.AddOpts{}, key) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *Queue[K]) AddAfter(key K, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, key)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *Queue[K]) AddRateLimited(key K) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, key)
}

// Forget implements workqueue.TypedRateLimitingInterface.
func (q *Queue[K]) Forget(key K) { q.limiter.Forget(key) }

// NumRequeues implements workqueue.TypedRateLimitingInterface.
func (q *Queue[K]) NumRequeues(key K) int { return q.limiter.NumRequeues(key) }

// Get implements workqueue.TypedInterface.
func (q *Queue[K]) Get() (key K, shutdown bool) {
	key, _, shutdown = q.GetWithPriority()
	return key, shutdown
}

// Len implements workqueue.TypedInterface: it returns the number of keys that are ready, with those whose key is still processed.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.length + q.held
}

// ShuttingDown implements workqueue.TypedInterface.
func (q *Queue[K]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shutdown
}

// ShutDown implements workqueue.TypedInterface.
func (q *Queue[K]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shutdown = true
	for _, timer := range []*time.Timer{q.due, q.unfinished} {
		if timer != nil {
			timer.Stop()
		}
	}
	q.wakeup.Broadcast()
}

// ShutDownWithDrain implements workqueue.TypedInterface. It does not wait, as the queue of controller-runtime does not.
func (q *Queue[K]) ShutDownWithDrain() { q.ShutDown() }
