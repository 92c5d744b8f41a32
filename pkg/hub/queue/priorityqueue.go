// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"sync"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// The priorities of keys, highest first. A key that is enqueued twice keeps the higher one; the namespaces with keys of one priority take
// turns.
const (
	// PriorityUser is for changes of the object of the key itself, which a user waits for.
	PriorityUser = 100
	// PriorityFleet is for changes of other objects. They may concern many keys, and come many times at once.
	PriorityFleet = 0
	// PriorityInitial is for objects of the initial lists, and for resyncs.
	PriorityInitial = handler.LowPriority
	// PriorityRecheck is for keys that are processed again only because an earlier result may have been wrong.
	PriorityRecheck = 2 * handler.LowPriority
)

// firstBatchWindow and longestBatchWindow bound how long changes are batched for a key that PriorityFleet has just enqueued.
const (
	firstBatchWindow   = 50 * time.Millisecond
	longestBatchWindow = 500 * time.Millisecond
)

// Change is why a key is enqueued.
type Change struct {
	// Cause is the kind of the change; nil when nothing has changed.
	Cause *metrics.Cause
	// At is when the change arrived in the hub; zero for objects of the initial lists and for rechecks.
	At time.Time
}

// earlier returns the change that has waited longer. A change with a time goes before one without.
func (c Change) earlier(other Change) Change {
	switch {
	case c.Cause == nil, c.At.IsZero() && !other.At.IsZero(), !other.At.IsZero() && other.At.Before(c.At):
		return other
	default:
		return c
	}
}

// PriorityQueue adds keys to a priority queue of controller-runtime, so that many changes at once cost few reconciles of each key. It is safe
// for concurrent use.
//
// A key that was not enqueued of late is added at once. While PriorityFleet keeps enqueuing it, its changes are batched: the key is added at
// the end of a window, which begins with 50 ms and doubles up to 500 ms while changes keep coming. Other keys do not wait with it, and
// PriorityUser does not wait at all. A key that is in the queue is added again only with a higher priority. No goroutine runs for this: a
// key waits in the queue itself.
type PriorityQueue[K comparable] struct {
	mu    sync.Mutex
	queue priorityqueue.PriorityQueue[K]
	known map[K]entry
}

// entry is the state of a key.
type entry struct {
	// queued reports whether the key is in the queue; priority is the one it has there.
	queued   bool
	priority int
	// gathered is when the last batch of PriorityFleet is or was due, and interval is the length of the window that begins then.
	gathered time.Time
	interval time.Duration
	// change is the earliest one since the last Get, or one that was requeued.
	change Change
}

// NewPriorityQueue returns a PriorityQueue that needs SetQueue before keys can be enqueued.
func NewPriorityQueue[K comparable]() *PriorityQueue[K] {
	return &PriorityQueue[K]{known: map[K]entry{}}
}

// SetQueue sets the queue that the keys are added to. It must be called before Enqueue.
func (q *PriorityQueue[K]) SetQueue(queue priorityqueue.PriorityQueue[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = queue
}

// Open reports whether SetQueue was called.
func (q *PriorityQueue[K]) Open() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue != nil
}

// Busy reports whether the queue has keys that are due, or was not set yet.
func (q *PriorityQueue[K]) Busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue == nil || q.queue.Len() > 0
}

// Enqueue adds keys for a change, and returns how many of them were added. The others are in the queue already, with that priority or a
// higher one.
func (q *PriorityQueue[K]) Enqueue(priority int, change Change, keys ...K) int {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	var ready []K
	put := 0

	for _, key := range keys {
		is := q.known[key]
		earliest := is.change.earlier(change)
		if is.queued && is.priority >= priority {
			if earliest != is.change {
				is.change = earliest
				q.known[key] = is
			}
			continue
		}

		due := now
		if priority == PriorityFleet {
			due = is.batch(now)
		}
		is.queued, is.priority, is.change = true, priority, earliest
		q.known[key] = is
		put++

		if wait := due.Sub(now); wait > 0 {
			q.queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority), After: wait}, key)
		} else {
			ready = append(ready, key)
		}
	}

	q.queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, ready...)
	return put
}

// batch returns when a key is due that PriorityFleet enqueues now.
func (e *entry) batch(now time.Time) time.Time {
	switch end := e.gathered.Add(e.interval); {
	case now.Before(e.gathered):
		// A higher priority took the key out of its window early. This change fits into the same window.
	case now.Before(end):
		e.gathered, e.interval = end, min(2*e.interval, longestBatchWindow)
	default:
		e.gathered, e.interval = now, firstBatchWindow
	}
	return e.gathered
}

// Get notes that a reconciler has taken a key, before it reads anything: later changes enqueue the key again. It returns the earliest change
// since the last Get, or the zero Change if the key was due by time or is retried.
func (q *PriorityQueue[K]) Get(key K) Change {
	q.mu.Lock()
	defer q.mu.Unlock()
	is, known := q.known[key]
	if !known {
		return Change{}
	}
	change := is.change
	is.queued, is.change = false, Change{}
	q.known[key] = is
	return change
}

// Queued reports whether a change has enqueued a key since the last Get.
func (q *PriorityQueue[K]) Queued(key K) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.known[key].queued
}

// Requeue keeps a change that was not dealt with for the next Get. It does not add the key to the queue, which the retry of the reconcile does.
func (q *PriorityQueue[K]) Requeue(key K, change Change) {
	if change.Cause == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	is := q.known[key]
	is.change = change.earlier(is.change)
	q.known[key] = is
}

// Forget drops the state of a key whose object is gone.
func (q *PriorityQueue[K]) Forget(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.known, key)
}
