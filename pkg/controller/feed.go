package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// sweepPeriod is how often writes are looked for that nothing has confirmed.
const sweepPeriod = 10 * time.Second

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// feed is the source of the placement controller: it takes the events of all kinds into the inventory, and puts the placements that
// they concern into the queue. What belongs to the initial lists goes in at low priority, what somebody just did goes first.
type feed struct {
	*memory

	cache cache.Cache
	queue queue
	done  chan error
}

// Start begins to listen; WaitForSync tells when the initial lists are in.
func (f *feed) Start(ctx context.Context, q queue) error {
	f.queue = q
	f.done = make(chan error, 1)

	go func() {
		err := f.listen(ctx)
		f.done <- err

		if err == nil {
			wait.UntilWithContext(ctx, f.sweep, sweepPeriod)
		}
	}()

	return nil
}

// WaitForSync returns when every object that existed at the start is in the inventory.
func (f *feed) WaitForSync(ctx context.Context) error {
	select {
	case err := <-f.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the initial lists: %w", ctx.Err())
	}
}

func (f *feed) listen(ctx context.Context) error {
	registrations := make([]toolscache.ResourceEventHandlerRegistration, 0, 6)

	for _, kind := range []struct {
		object  client.Object
		handler toolscache.ResourceEventHandler
	}{
		{&clusterv1beta1.Placement{}, on(f.setPlacement, f.deletePlacement)},
		{&clusterv1.ManagedCluster{}, on(f.setCluster, f.deleteCluster)},
		{&clusterv1beta2.ManagedClusterSet{}, on(f.setClusterSet, f.deleteClusterSet)},
		{&clusterv1beta2.ManagedClusterSetBinding{}, on(f.setBinding, f.deleteBinding)},
		{&clusterv1alpha1.AddOnPlacementScore{}, on(f.setScores, f.deleteScores)},
		{&clusterv1beta1.PlacementDecision{}, on(f.setDecision, f.deleteDecision)},
	} {
		informer, err := f.cache.GetInformer(ctx, kind.object)
		if err != nil {
			return fmt.Errorf("watching %T: %w", kind.object, err)
		}

		registration, err := informer.AddEventHandler(kind.handler)
		if err != nil {
			return fmt.Errorf("listening to %T: %w", kind.object, err)
		}

		registrations = append(registrations, registration)
	}

	synced := make([]toolscache.InformerSynced, 0, len(registrations))
	for _, registration := range registrations {
		synced = append(synced, registration.HasSynced)
	}

	if !toolscache.WaitForCacheSync(ctx.Done(), synced...) {
		return errors.Join(errors.New("the initial lists did not arrive"), ctx.Err())
	}

	f.synced.Store(true)

	return nil
}

// sweep wakes the placements for which something was written that the cache still does not show: it was not to last, and its event is
// lost.
func (f *feed) sweep(ctx context.Context) {
	sweep(ctx, f, f.pages, func() *clusterv1beta1.PlacementDecision { return &clusterv1beta1.PlacementDecision{} })
	sweep(ctx, f, f.statuses, func() *clusterv1beta1.Placement { return &clusterv1beta1.Placement{} })
}

func sweep[T client.Object](ctx context.Context, f *feed, written *readback[T], empty func() T) {
	for _, lost := range written.stale() {
		cached := empty()

		err := f.cache.Get(ctx, client.ObjectKeyFromObject(lost.object), cached)
		if client.IgnoreNotFound(err) != nil || !lost.confirmed(cached, err == nil) {
			f.wake(false, "unconfirmed", lost.owner)
		}
	}
}

// on makes an event handler of two functions; the old state is nil for an object that appears, and initial says that it was there
// before the controller.
func on[T client.Object](set func(before, after T, initial bool), gone func(T)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if after, ok := object.(T); ok {
				var none T

				set(none, after, initial)
			}
		},
		UpdateFunc: func(old, object any) {
			before, okBefore := old.(T)
			if after, ok := object.(T); ok && okBefore {
				set(before, after, false)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}

			if last, ok := object.(T); ok {
				gone(last)
			}
		},
	}
}

func (f *feed) setPlacement(before, after *clusterv1beta1.Placement, initial bool) {
	key := client.ObjectKeyFromObject(after)
	if before != nil && before.UID != after.UID {
		f.forget(key) // It was deleted and made again while the watch was broken.
	}

	mine := f.statuses.expected(key, after, false)

	if !managed(after) {
		f.forget(key)

		return
	}

	f.requests.of(after)

	resync := before != nil && before.ResourceVersion == after.ResourceVersion
	if mine && before != nil && before.Generation == after.Generation && managed(before) {
		return // Our own status comes back.
	}

	f.wake(initial || resync, "placement", key)
}

func (f *feed) deletePlacement(last *clusterv1beta1.Placement) {
	f.forget(client.ObjectKeyFromObject(last))
}

func (f *feed) setCluster(_, after *clusterv1.ManagedCluster, initial bool) {
	f.wakeAffected(initial, f.inventory.SetCluster(after))
}

func (f *feed) deleteCluster(last *clusterv1.ManagedCluster) {
	f.wakeAffected(false, f.inventory.DeleteCluster(last.Name))
}

func (f *feed) setClusterSet(_, after *clusterv1beta2.ManagedClusterSet, initial bool) {
	f.wakeAffected(initial, f.inventory.SetClusterSet(after))
}

func (f *feed) deleteClusterSet(last *clusterv1beta2.ManagedClusterSet) {
	f.wakeAffected(false, f.inventory.DeleteClusterSet(last.Name))
}

func (f *feed) setBinding(_, after *clusterv1beta2.ManagedClusterSetBinding, initial bool) {
	f.wakeAffected(initial, f.inventory.SetBinding(after))
}

func (f *feed) deleteBinding(last *clusterv1beta2.ManagedClusterSetBinding) {
	f.wakeAffected(false, f.inventory.DeleteBinding(last.Namespace, last.Name))
}

func (f *feed) setScores(_, after *clusterv1alpha1.AddOnPlacementScore, initial bool) {
	f.wakeAffected(initial, f.inventory.SetScores(after))
}

func (f *feed) deleteScores(last *clusterv1alpha1.AddOnPlacementScore) {
	f.wakeAffected(false, f.inventory.DeleteScores(last.Namespace, last.Name))
}

// setDecision wakes whose page it is, and whose it was, unless it shows what was written here.
func (f *feed) setDecision(before, after *clusterv1beta1.PlacementDecision, initial bool) {
	f.inventory.SetDecision(after)

	keys := owners(after)
	if before != nil {
		keys = append(keys, owners(before)...)
	}

	f.wakeOwners(keys, after, false, initial || before != nil && before.ResourceVersion == after.ResourceVersion)
}

func (f *feed) deleteDecision(last *clusterv1beta1.PlacementDecision) {
	f.inventory.DeleteDecision(client.ObjectKeyFromObject(last))
	f.wakeOwners(owners(last), last, true, false)
}

func (f *feed) wakeOwners(keys []inventory.PlacementKey, page *clusterv1beta1.PlacementDecision, deleted, initial bool) {
	expected := map[inventory.PlacementKey]bool{}

	for _, key := range keys {
		if _, asked := expected[key]; !asked {
			expected[key] = f.pages.expected(key, page, deleted)
		}
	}

	for key, mine := range expected {
		if !mine {
			f.wake(initial, "decision", key)
		}
	}
}

func owners(page *clusterv1beta1.PlacementDecision) []inventory.PlacementKey {
	names := decision.PlacementsOf(page)
	keys := make([]inventory.PlacementKey, 0, len(names))

	for _, name := range names {
		keys = append(keys, types.NamespacedName{Namespace: page.Namespace, Name: name})
	}

	return keys
}

func (f *feed) wakeAffected(initial bool, affected inventory.Affected) {
	f.wake(initial, string(affected.Cause), affected.Placements...)
}

func (f *feed) wake(initial bool, cause string, keys ...inventory.PlacementKey) {
	if len(keys) == 0 {
		return
	}

	metrics.WakeUps.WithLabelValues(cause).Add(float64(len(keys)))

	items := make([]reconcile.Request, 0, len(keys))
	for _, key := range keys {
		items = append(items, reconcile.Request{NamespacedName: key})
	}

	prioritized, ok := f.queue.(priorityqueue.PriorityQueue[reconcile.Request])
	if !ok {
		for _, item := range items {
			f.queue.Add(item)
		}

		return
	}

	priority := 0
	if initial {
		priority = handler.LowPriority
	}

	prioritized.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, items...)
}

// managed reports whether the placement is ours to schedule (ours.md C5).
func managed(placement *clusterv1beta1.Placement) bool {
	return placement.DeletionTimestamp.IsZero() && placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] != "true"
}
