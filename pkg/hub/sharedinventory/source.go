// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Source is the source of a controller with a Subscriber: its event handlers run on every replica, and its queue gets keys on the leader alone.
// All fields must be set.
type Source struct {
	// Subscriber gets the queue of the controller.
	Subscriber *Subscriber
	// Keys names the objects of the keys for errors, such as "placements".
	Keys string
	// Cause is the cause of the evaluations after the election, and Known returns the keys that are known.
	Cause string
	Known func() []inventory.Key
	// Listen registers the event handlers, and returns when they have every object of the initial lists.
	Listen func(context.Context) error
	// Cache reads from the informer cache, and Live from the API server.
	Cache, Live client.Reader
	// Elected is closed when this process becomes the leader, whose workers take keys from the queue.
	Elected <-chan struct{}
	// Recorder sends events about unreadable objects from the election on; FormerRenewal is queue.Settings.FormerRenewal.
	Recorder      events.EventRecorder
	FormerRenewal func() time.Time

	done chan error
}

// Start registers the event handlers and returns. WaitForSync waits for the initial lists.
func (s *Source) Start(ctx context.Context, q workqueue.TypedRateLimitingInterface[inventory.Key]) error {
	prioritized, ok := q.(priorityqueue.PriorityQueue[inventory.Key])
	if !ok {
		return fmt.Errorf("the queue of %s is a %T, which knows no priorities", s.Keys, q)
	}
	s.done = make(chan error, 1)

	go func() {
		select {
		case <-s.Elected:
			s.Lead(prioritized)
		case <-ctx.Done():
		}
	}()
	go func() {
		err := s.Listen(ctx)
		s.done <- err
		if err == nil {
			wait.UntilWithContext(ctx, s.Sweep, assumecache.SweepPeriod)
		}
	}()

	return nil
}

// Lead enables the queue at the election, and then enqueues every key that is known: on a standby no worker takes keys from the queue. A key that
// appears meanwhile is either among them or enqueued by its own event, because it is known before it is enqueued.
func (s *Source) Lead(q priorityqueue.PriorityQueue[inventory.Key]) {
	s.Subscriber.Shared.Elect(s.Recorder, s.FormerRenewal)
	s.Subscriber.Queue.SetQueue(q)
	s.Subscriber.Enqueue(queue.PriorityInitial, s.Cause, s.Known()...)
}

// Sweep checks the own writes whose events have not come for long. It runs every assumecache.SweepPeriod after Listen.
func (s *Source) Sweep(ctx context.Context) { s.Subscriber.sweep(ctx, s.Cache, s.Live) }

// WaitForSync returns when every object of the initial lists was handled.
func (s *Source) WaitForSync(ctx context.Context) error {
	select {
	case err := <-s.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the initial lists: %w", ctx.Err())
	}
}
