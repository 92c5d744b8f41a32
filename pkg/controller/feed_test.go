package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// storeCache is a cache that holds what a client holds.
type storeCache struct {
	cache.Cache

	store client.Reader
}

func (c storeCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := c.store.Get(ctx, key, object, options...); err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}

	return nil
}

// A page that was created and deleted again by somebody while its events were lost is made again, not believed in for ever; what the cache
// shows by then wakes nobody.
func TestSweepWakesForLostWritesOnly(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	known := state("known", "1", "9")
	store := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(record.V1beta1.Form().Write(known)).Build()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[inventory.PlacementKey]())
	f := &feed{memory: newMemory(outputs{apis: record.APIs()}, clock), cache: storeCache{store: store}, queue: q}

	lost := owner
	lost.Name = "lost"

	f.pages[record.V1beta1.Form()].wrote(owner, known, false)
	f.pages[record.V1beta1.Form()].wrote(lost, state("gone", "2", "12"), false)
	f.statuses.wrote(owner, &record.Placement{API: record.V1beta1}, true)

	f.sweep(t.Context())

	if q.Len() != 0 {
		t.Errorf("%d placements woken before the time", q.Len())
	}

	clock.SetTime(time.Unix(0, 0).Add(unconfirmed))
	f.sweep(t.Context())

	if q.Len() != 1 {
		t.Fatalf("%d placements woken, want 1", q.Len())
	}

	if item, _ := q.Get(); item != lost {
		t.Errorf("woke %v, want %v", item, lost)
	}
}
