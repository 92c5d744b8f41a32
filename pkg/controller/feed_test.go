package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
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
	store := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(known.DeepCopy()).Build()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	f := &feed{memory: newMemory(clock), cache: storeCache{store: store}, queue: q}

	lost := owner
	lost.Name = "lost"

	f.pages.wrote(owner, known, false)
	f.pages.wrote(lost, state("gone", "2", "12"), false)
	f.statuses.wrote(owner, &clusterv1beta1.Placement{}, true)

	f.sweep(t.Context())

	if q.Len() != 0 {
		t.Errorf("%d placements woken before the time", q.Len())
	}

	clock.SetTime(time.Unix(0, 0).Add(unconfirmed))
	f.sweep(t.Context())

	if q.Len() != 1 {
		t.Fatalf("%d placements woken, want 1", q.Len())
	}

	if item, _ := q.Get(); item.NamespacedName != lost {
		t.Errorf("woke %v, want %v", item, lost)
	}
}
