// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// Queue is a queue of keys. It is safe for concurrent use.
type Queue[K comparable] struct {
	namespaceOf func(K) string
	workers     int
	limiter     workqueue.TypedRateLimiter[K]
	metrics     *metrics.Workqueue

	mu     sync.Mutex
	wakeup *sync.Cond // An item is ready, or the queue is shut down.
	// items has every item in the queue: those in ready, those in waiting, and the held ones, which are ready but whose key is processed.
	items   map[K]*item[K]
	ready   readyItems[K]
	waiting itemHeap[K] // by readyAt
	held    int
	// processing has the keys that were handed out and are not done, with the time at which they were; busy counts them by namespace.
	processing map[K]time.Time
	busy       map[string]int
	added      uint64
	shutdown   bool
	// due runs when the first item of waiting is due, and unfinished updates the metrics while keys are processed.
	due, unfinished *time.Timer
}

var _ priorityqueue.PriorityQueue[string] = &Queue[string]{}

// New returns an empty Queue for a number of workers. The name is the label of its metrics, namespaceOf returns the namespace of a key,
// which is empty for a key without one, and limiter delays the keys of AddRateLimited.
func New[K comparable](name string, workers int, limiter workqueue.TypedRateLimiter[K], namespaceOf func(K) string) *Queue[K] {
	q := &Queue[K]{
		namespaceOf: namespaceOf, workers: workers, limiter: limiter, metrics: metrics.NewWorkqueue(name),
		items: map[K]*item[K]{}, waiting: itemHeap[K]{less: readyBefore[K]}, processing: map[K]time.Time{}, busy: map[string]int{},
	}
	q.wakeup = sync.NewCond(&q.mu)
	return q
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q *Queue[K]) AddWithOpts(options priorityqueue.AddOpts, keys ...K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shutdown {
		return
	}
	now := time.Now()

	for _, key := range keys {
		after := options.After
		if options.RateLimited {
			if delay := q.limiter.When(key); after == 0 || delay < after {
				after = delay
			}
		}
		var readyAt time.Time

		if after > 0 {
			q.metrics.Retried()
			readyAt = now.Add(after)
		}
		q.add(key, ptr.Deref(options.Priority, 0), readyAt, now)
	}

	q.schedule(now)
}

// add adds a key, or raises the priority and brings forward the time of a key that is in the queue.
func (q *Queue[K]) add(key K, priority int, readyAt, now time.Time) {
	i, known := q.items[key]
	if !known {
		q.added++
		i = &item[K]{key: key, namespace: q.namespaceOf(key), priority: priority, added: q.added, readyAt: readyAt}
		q.items[key] = i
		if readyAt.IsZero() {
			q.makeReady(i, now)
		} else {
			heap.Push(&q.waiting, i)
		}
		return
	}

	if priority > i.priority {
		q.raise(i, priority)
	}
	switch {
	case i.readyAt.IsZero():
	case readyAt.IsZero():
		heap.Remove(&q.waiting, i.index)
		q.makeReady(i, now)
	case readyAt.Before(i.readyAt):
		i.readyAt = readyAt
		heap.Fix(&q.waiting, i.index)
	}
}

// raise gives an item a higher priority, and puts it behind the others of that priority.
func (q *Queue[K]) raise(i *item[K], priority int) {
	q.added++
	if !i.readyAt.IsZero() {
		i.priority, i.added = priority, q.added
		heap.Fix(&q.waiting, i.index)
		return
	}
	q.metrics.Moved(i.priority, priority)
	q.takeOut(i)
	i.priority, i.added = priority, q.added
	q.putIn(i)
}

// makeReady makes an item ready that is not in waiting any more.
func (q *Queue[K]) makeReady(i *item[K], now time.Time) {
	i.readyAt, i.readySince = time.Time{}, now
	q.metrics.Added(i.priority)
	q.putIn(i)
}

// putIn puts an item into ready, unless its key is processed; takeOut takes it out again.
func (q *Queue[K]) putIn(i *item[K]) {
	if _, is := q.processing[i.key]; is {
		q.held++
		return
	}
	q.ready.push(i)
	q.wakeup.Signal()
}

func (q *Queue[K]) takeOut(i *item[K]) {
	if _, is := q.processing[i.key]; is {
		q.held--
		return
	}
	q.ready.remove(i)
}

// schedule sets the timer for the first item that waits.
func (q *Queue[K]) schedule(now time.Time) {
	if q.waiting.Len() == 0 {
		return
	}
	after := q.waiting.list[0].readyAt.Sub(now)
	if q.due == nil {
		q.due = time.AfterFunc(after, q.readyDue)
	} else {
		q.due.Reset(after)
	}
}

// readyDue makes the items ready that are due.
func (q *Queue[K]) readyDue() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shutdown {
		return
	}
	now := time.Now()

	for q.waiting.Len() > 0 && !now.Before(q.waiting.list[0].readyAt) {
		i := q.waiting.list[0]
		heap.Remove(&q.waiting, 0)
		q.added++
		i.added = q.added
		q.makeReady(i, now)
	}
	q.schedule(now)
}

// GetWithPriority implements priorityqueue.PriorityQueue. It waits for a key that is ready.
func (q *Queue[K]) GetWithPriority() (key K, priority int, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.ready.pop(q.mayTake)
	for i == nil && !q.shutdown {
		q.wakeup.Wait()
		i = q.ready.pop(q.mayTake)
	}
	if q.shutdown {
		return key, 0, true
	}

	now := time.Now()
	delete(q.items, i.key)
	q.processing[i.key] = now
	q.busy[i.namespace]++
	q.metrics.Taken(i.priority, now.Sub(i.readySince))
	if q.unfinished == nil {
		q.unfinished = time.AfterFunc(unfinishedInterval, q.reportUnfinished)
	}
	return i.key, i.priority, false
}

// Done implements workqueue.TypedInterface.
func (q *Queue[K]) Done(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	since, is := q.processing[key]
	if !is {
		return
	}
	delete(q.processing, key)
	q.metrics.Done(time.Since(since))
	namespace := q.namespaceOf(key)
	q.busy[namespace]--
	if q.busy[namespace] == 0 {
		delete(q.busy, namespace)
	}

	if i := q.items[key]; i != nil && i.readyAt.IsZero() {
		q.held--
		q.putIn(i)
	}
	if q.ready.length > 0 {
		q.wakeup.Broadcast() // Each namespace may take one more.
	}
}

// mayTake reports whether a namespace may have one more key processed: it has fewer workers than are free. So there is a free worker for a
// namespace that has none, unless many namespaces have several. Keys without a namespace may always be taken.
func (q *Queue[K]) mayTake(namespace string) bool {
	busy := q.busy[namespace]
	return busy == 0 || namespace == "" || busy < q.workers-len(q.processing)
}

// unfinishedInterval is how often the metrics of unfinished work are updated, as by client-go.
const unfinishedInterval = 500 * time.Millisecond

// reportUnfinished updates the metrics of the keys that are processed, until there are none.
func (q *Queue[K]) reportUnfinished() {
	q.mu.Lock()
	defer q.mu.Unlock()
	var total, longest time.Duration
	for _, since := range q.processing {
		took := time.Since(since)
		total, longest = total+took, max(longest, took)
	}
	q.metrics.Unfinished(total, longest)

	if len(q.processing) > 0 && !q.shutdown {
		q.unfinished.Reset(unfinishedInterval)
	} else {
		q.unfinished = nil
	}
}
