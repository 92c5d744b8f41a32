// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// NotSyncedDelay is how long a key waits for the initial lists.
	NotSyncedDelay = time.Second
	// LongestWait bounds how long a key waits for the time at which its evaluation changes. The timer of the queue is monotonic: it does not
	// follow a clock that is put right, and stands still while the machine is suspended. An evaluation that finds nothing new sends nothing.
	LongestWait = 10 * time.Minute
)

// unconfirmed is the cause of the evaluation after an own write of which no event came and which the API server does not show.
const unconfirmed = "unconfirmed_write"

// Subscriber is what the event handlers and the reconciler of a controller share whose keys subscribe to the inventory: the queue, the own writes
// that the watch has not shown yet, and whether the initial lists were handled. Nothing is enqueued before the election. The fields are set once;
// the methods are safe for concurrent use.
type Subscriber struct {
	// Shared has the inventory, which other controllers use too.
	Shared *Shared
	Queue  *queue.PriorityQueue[inventory.Key]
	// Counted counts the changes by their causes, in the metrics of Placements. Otherwise the causes count nothing.
	Counted bool
	// Settled is called for a key after own writes of it were shown, dropped or forgotten outside of an event handler; nil for nothing.
	Settled func(inventory.Key)
	// Synced is set once the initial lists were handled. Before that nothing is evaluated: an incomplete inventory would remove clusters.
	Synced atomic.Bool

	writes []writes
}

// writes are the own writes of one kind of objects.
type writes struct {
	cause         string
	pause, forget func(inventory.Key)
	resume        func(inventory.Key) bool
	sweep         func(context.Context, assumecache.Sweeper[inventory.Key])
}

// NewSubscriber returns a Subscriber to a shared inventory without own writes.
func NewSubscriber(shared *Shared) *Subscriber {
	return &Subscriber{Shared: shared, Queue: queue.NewPriorityQueue[inventory.Key]()}
}

// Track adds a cache of own writes. The cause is that of evaluations because others have changed the objects; empty and read are those of
// assumecache.Sweep.
func Track[T metav1.Object](
	s *Subscriber, cause string, own *assumecache.Cache[inventory.Key, T], empty func(T) client.Object, read func(runtime.Object) T,
) {
	s.writes = append(s.writes, writes{
		cause: cause, pause: own.Pause, forget: own.Forget, resume: own.Resume,
		sweep: func(ctx context.Context, sweeper assumecache.Sweeper[inventory.Key]) {
			assumecache.Sweep(ctx, sweeper, own, empty, read)
		},
	})
}

// Enqueue enqueues keys for a cause that is not the change of an object, or for objects of the initial lists.
func (s *Subscriber) Enqueue(priority int, cause string, keys ...inventory.Key) {
	s.EnqueueFor(priority, cause, time.Time{}, keys...)
}

// EnqueueFor enqueues keys for a change that arrived at a time; the zero time is for objects of the initial lists.
func (s *Subscriber) EnqueueFor(priority int, cause string, at time.Time, keys ...inventory.Key) {
	if len(keys) == 0 || !s.Queue.Open() {
		return
	}
	change := queue.Change{At: at}
	if !s.Counted {
		s.Queue.Enqueue(priority, change, keys...)
		return
	}

	change.Cause = metrics.CauseOf(cause)
	put := s.Queue.Enqueue(priority, change, keys...)
	change.Cause.Enqueued(put, len(keys)-put)
}

// EnqueueAffected enqueues the keys that a change of the inventory concerns. Until the initial lists were handled it does nothing, because every
// key is enqueued by its initial list.
func (s *Subscriber) EnqueueAffected(at time.Time, affected inventory.Affected) {
	if s.Synced.Load() {
		s.EnqueueFor(queue.PriorityFleet, string(affected.Cause), at, affected.Subscribers...)
	}
}

// EnqueueChanged enqueues a key for a change of its own objects, or for an event of the initial lists.
func (s *Subscriber) EnqueueChanged(initial bool, cause string, at time.Time, key inventory.Key) {
	if initial {
		s.Enqueue(queue.PriorityInitial, cause, key)
	} else {
		s.EnqueueFor(queue.PriorityUser, cause, at, key)
	}
}

// Begin takes a key from the queue for a reconcile, with its earliest change. It returns false if the initial lists are incomplete: the key
// keeps its change then, and has to be reconciled after NotSyncedDelay.
func (s *Subscriber) Begin(key inventory.Key) (queue.Change, bool) {
	change := s.Queue.Get(key)
	if s.Synced.Load() {
		return change, true
	}
	s.Queue.Requeue(key, change)
	return change, false
}

// After returns the result of a reconcile that looks again after a time, or after LongestWait; zero for never.
func After(wait time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: min(wait, LongestWait)}
}

// Pause defers the handling of events of own objects while a key is reconciled, because an event may arrive before the response to the write.
func (s *Subscriber) Pause(key inventory.Key) {
	for _, own := range s.writes {
		own.pause(key)
	}
}

// Resume ends Pause, and enqueues the key if others have changed its objects meanwhile.
func (s *Subscriber) Resume(key inventory.Key) {
	for _, own := range s.writes {
		if own.resume(key) {
			s.EnqueueFor(queue.PriorityUser, own.cause, time.Now(), key)
		}
	}
	s.settled(key)
}

// ForgetWrites drops the assumed writes of a key.
func (s *Subscriber) ForgetWrites(key inventory.Key) {
	for _, own := range s.writes {
		own.forget(key)
	}
	s.settled(key)
}

// sweep ends the assumption of writes whose events have not come for long, unless the API server shows that the cache is behind, and enqueues
// the owners of lost events.
func (s *Subscriber) sweep(ctx context.Context, cache, live client.Reader) {
	ctx, cancel := context.WithTimeout(ctx, assumecache.SweepPeriod)
	defer cancel()
	sweeper := assumecache.Sweeper[inventory.Key]{Cache: cache, Live: live, Dropped: func(owner inventory.Key, lost bool) {
		s.settled(owner)
		if lost {
			s.Enqueue(queue.PriorityUser, unconfirmed, owner)
		}
	}}

	for _, own := range s.writes {
		own.sweep(ctx, sweeper)
	}
}

func (s *Subscriber) settled(key inventory.Key) {
	if s.Settled != nil {
		s.Settled(key)
	}
}
