package queue

import (
	"sync"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// The priorities of keys, highest first. A key that is woken twice keeps the higher one; keys of one priority take their turns.
const (
	// PriorityUser is what somebody did to the very object of the key, and waits for.
	PriorityUser = 100
	// PriorityFleet is what a change of something else concerns. It may come for many keys and many times at once.
	PriorityFleet = 0
	// PriorityInitial is what was there before the controller, or did not change.
	PriorityInitial = handler.LowPriority
	// PriorityRecheck is what is looked at again only because an earlier answer may have been wrong.
	PriorityRecheck = 2 * handler.LowPriority
)

// firstGathering and longestGathering bound how long changes are gathered for a key that Bulk has just woken.
const (
	firstBatchWindow   = 50 * time.Millisecond
	longestBatchWindow = 500 * time.Millisecond
)

// Change is what a key is woken for.
type Change struct {
	// Cause is the kind of it; nil when nothing has changed.
	Cause *metrics.Cause
	// At is when it arrived in the hub; zero for what was there before the hub, and for what is only doubted.
	At time.Time
}

// earlier is the change that has waited longer. One with a time goes before one without, which nobody waits for.
func (c Change) earlier(other Change) Change {
	switch {
	case c.Cause == nil, c.At.IsZero() && !other.At.IsZero(), !other.At.IsZero() && other.At.Before(c.At):
		return other
	default:
		return c
	}
}

// PriorityQueue puts keys into a priority queue, so that many changes at once cost few looks at each key. It is safe for concurrent use.
//
// A key that nothing woke of late goes in at once. While Bulk keeps waking it, its changes are gathered: it goes in at the end of an
// interval, which begins with 50 ms and doubles up to 500 ms as long as the one before it was not quiet. Other keys do not wait with it,
// and Interactive does not wait at all. A key that is in the queue is not put there again, unless for a higher priority. Nothing runs in the
// background: a key that waits does so in the queue, and ends with it.
type PriorityQueue[K comparable] struct {
	mu    sync.Mutex
	queue priorityqueue.PriorityQueue[K]
	known map[K]entry
}

// entry is when a key was woken.
type entry struct {
	// queued says that the key is in the queue, with the priority.
	queued   bool
	priority int
	// gathered is when Bulk put the key into the queue last, or will have, and interval how long changes are gathered from then on.
	gathered time.Time
	interval time.Duration
	// change is the earliest one since the key was taken last, or one that is still owed.
	change Change
}

// NewPriorityQueue has woken nothing.
func NewPriorityQueue[K comparable]() *PriorityQueue[K] {
	return &PriorityQueue[K]{known: map[K]entry{}}
}

// SetQueue says which queue the keys go into. It is called before any key is woken.
func (w *PriorityQueue[K]) SetQueue(queue priorityqueue.PriorityQueue[K]) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.queue = queue
}

// Open reports whether there is a queue, so that keys can be woken.
func (w *PriorityQueue[K]) Open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.queue != nil
}

// Busy reports whether keys can be taken from the queue, or there is none yet.
func (w *PriorityQueue[K]) Busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.queue == nil || w.queue.Len() > 0
}

// Enqueue has keys looked at for a change, and returns how many of them went into the queue. The others are there already, for something that
// matters as much.
func (w *PriorityQueue[K]) Enqueue(priority int, change Change, keys ...K) int {
	now := time.Now()

	w.mu.Lock()
	defer w.mu.Unlock()

	var ready []K

	put := 0

	for _, key := range keys {
		is := w.known[key]
		earliest := is.change.earlier(change)

		if is.queued && is.priority >= priority {
			if earliest != is.change {
				is.change = earliest
				w.known[key] = is
			}

			continue
		}

		due := now
		if priority == PriorityFleet {
			due = is.batch(now)
		}

		is.queued, is.priority, is.change = true, priority, earliest
		w.known[key] = is
		put++

		if wait := due.Sub(now); wait > 0 {
			w.queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority), After: wait}, key)
		} else {
			ready = append(ready, key)
		}
	}

	w.queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, ready...)

	return put
}

// batch says when a key is to be taken that Bulk wakes now.
func (w *entry) batch(now time.Time) time.Time {
	switch end := w.gathered.Add(w.interval); {
	case now.Before(w.gathered):
		// It was taken before its time, for something else. This one has room in the same interval.
	case now.Before(end):
		w.gathered, w.interval = end, min(2*w.interval, longestBatchWindow)
	default:
		w.gathered, w.interval = now, firstBatchWindow
	}

	return w.gathered
}

// Get says that a key was taken from the queue, before anything is read for it: what happens from now on wakes it again. It returns the
// earliest change since the key was taken last; none when something was due, or is tried again after all changes were dealt with.
func (w *PriorityQueue[K]) Get(key K) Change {
	w.mu.Lock()
	defer w.mu.Unlock()

	is, known := w.known[key]
	if !known {
		return Change{}
	}

	change := is.change
	is.queued, is.change = false, Change{}
	w.known[key] = is

	return change
}

// Requeue says that a change has not been dealt with: it is the one that the key is taken for when it is tried again. It puts nothing into the
// queue.
func (w *PriorityQueue[K]) Requeue(key K, change Change) {
	if change.Cause == nil {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	is := w.known[key]
	is.change = change.earlier(is.change)
	w.known[key] = is
}

// Forget drops what is remembered of a key that is gone.
func (w *PriorityQueue[K]) Forget(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()

	delete(w.known, key)
}
