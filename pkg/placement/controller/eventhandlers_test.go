// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
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
	known := newPage("known", "1", "9")
	codec := api.V1beta1.Codec()
	store := newClientBuilder().WithObjects(codec.Write(known)).
		WithIndex(codec.Empty(), metav1.ObjectNameField, nameOf).Build()
	q := priorityqueue.New[inventory.Key]("sweep")
	f := &eventHandlers{
		state: newState(sharedinventory.New(), servedAPIs{apis: api.Adapters()}, clock), cache: storeCache{store: store}, live: store,
	}
	defer q.ShutDown()

	f.state.Queue.SetQueue(q)
	lost := owner
	lost.Name = "lost"
	f.state.pages[codec].Assume(owner, known)
	f.state.pages[codec].Assume(lost, newPage("gone", "2", "12"))
	f.state.statuses.AssumeDeleted(owner, &api.Placement{API: api.V1beta1})

	f.source().Sweep(t.Context())
	if q.Len() != 0 {
		t.Errorf("%d placements woken before the time", q.Len())
	}
	clock.SetTime(time.Unix(0, 0).Add(assumecache.Expiry))
	f.source().Sweep(t.Context())
	if q.Len() != 1 {
		t.Fatalf("%d placements woken, want 1", q.Len())
	}

	if item, _ := q.Get(); item != lost {
		t.Errorf("woke %v, want %v", item, lost)
	}
}

// Interactive before bulk, and bulk before what was there before: what somebody did to a placement or its decisions goes first, then what
// changes of clusters, sets and bindings concern, then the initial lists and resyncs.
func TestWhoWaitsForWhom(t *testing.T) {
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
	}
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}}
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}}
	placement := func(version string) *api.Placement {
		return api.V1beta1.Read(&clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", ResourceVersion: version},
		})
	}
	page := func(version string) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p-decision-1", ResourceVersion: version, Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
		}}
	}
	for _, tc := range []struct {
		reason string
		happen func(*eventHandlers)
		want   int
	}{
		{"a placement that was there before", func(f *eventHandlers) { f.updatePlacement(nil, placement("7"), true) }, queue.PriorityInitial},
		{"a resync of a placement", func(f *eventHandlers) { f.updatePlacement(placement("7"), placement("7"), false) }, queue.PriorityInitial},
		{"a new placement", func(f *eventHandlers) { f.updatePlacement(nil, placement("7"), false) }, queue.PriorityUser},
		{"a change of a placement", func(f *eventHandlers) { f.updatePlacement(placement("7"), placement("8"), false) }, queue.PriorityUser},
		{
			"a decision that was there before",
			func(f *eventHandlers) { f.decisions(api.V1beta1.Codec()).OnAdd(page("7"), true) }, queue.PriorityInitial,
		},
		{
			"a decision that somebody changes",
			func(f *eventHandlers) { f.decisions(api.V1beta1.Codec()).OnUpdate(page("7"), page("8")) }, queue.PriorityUser,
		},
		{"a decision that somebody deletes", func(f *eventHandlers) { f.decisions(api.V1beta1.Codec()).OnDelete(page("7")) }, queue.PriorityUser},
		{"a new cluster", func(f *eventHandlers) { f.state.Shared.Set(inventory.Clusters, cluster) }, queue.PriorityFleet},
		{"a cluster that goes", func(f *eventHandlers) {
			f.state.inventory.SetCluster(cluster)
			f.state.Shared.Delete(inventory.Clusters, cluster)
		}, queue.PriorityFleet},
		{"a set that goes", func(f *eventHandlers) { f.state.Shared.Delete(inventory.ClusterSets, set) }, queue.PriorityFleet},
		{"a binding that goes", func(f *eventHandlers) { f.state.Shared.Delete(inventory.Bindings, binding) }, queue.PriorityFleet},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			q := priorityqueue.New[inventory.Key]("priorities")
			defer q.ShutDown()
			f := &eventHandlers{state: newTestState(api.Adapters()...)}
			f.state.inventory.SetClusterSet(set)
			f.state.inventory.SetBinding(binding)
			f.state.requests.of(placement("6"))
			f.state.inventory.SnapshotFor(placement("6").Key()) // It has been evaluated.
			f.state.Queue.SetQueue(q)
			f.state.Synced.Store(true)
			tc.happen(f)

			if diff := cmp.Diff(map[string]int{"p": tc.want}, drained(q)); diff != "" {
				t.Errorf("woken with priority (-want +got):\n%s", diff)
			}
		})
	}
}

// Until the initial lists are in, every placement is woken once, by being in them, however many clusters there are.
func TestInitialListsWakeEveryPlacementOnce(t *testing.T) {
	q := priorityqueue.New[inventory.Key]("initial")
	defer q.ShutDown()
	f := &eventHandlers{state: newTestState(api.Adapters()...)}
	f.state.Queue.SetQueue(q)
	put := func() float64 { return counted(t, "placement_hub_enqueues_total", "cluster") }
	before := put()

	f.state.Shared.Set(inventory.ClusterSets, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	f.state.Shared.Set(inventory.Bindings, &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"},
	})
	f.updatePlacement(nil, api.V1beta1.Read(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}), true)
	f.state.Shared.Set(inventory.Clusters, &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
	})

	if diff := cmp.Diff(map[string]int{"p": queue.PriorityInitial}, drained(q)); diff != "" || put() != before {
		t.Errorf("%v woken by clusters, and in all (-want +got):\n%s", put()-before, diff)
	}
}

// A thousand cluster changes at once are one wake-up for each placement that they concern; the rest are counted as coalesced.
func TestAThousandChangesWakeAPlacementOnce(t *testing.T) {
	q := priorityqueue.New[inventory.Key]("burst")
	defer q.ShutDown()
	m := newTestState()
	m.Queue.SetQueue(q)
	put, coalesced := counted(t, "placement_hub_enqueues_total", "burst"), counted(t, "placement_hub_enqueues_coalesced_total", "burst")
	for range 1000 {
		m.Enqueue(queue.PriorityFleet, "burst", placementKey("p"), placementKey("q"))
	}
	put = counted(t, "placement_hub_enqueues_total", "burst") - put
	coalesced = counted(t, "placement_hub_enqueues_coalesced_total", "burst") - coalesced
	if q.Len() != 2 || put != 2 || coalesced != 1998 {
		t.Errorf("%d in the queue, %v put there and %v coalesced, want 2, 2 and 1998", q.Len(), put, coalesced)
	}
}

// What wakes placements relies on priorities: a queue that has none is refused.
func TestAQueueWithoutPrioritiesIsRefused(t *testing.T) {
	f := &eventHandlers{state: newTestState()}
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[inventory.Key]())
	defer q.ShutDown()
	if err := f.source().Start(t.Context(), q); err == nil {
		t.Error("no error")
	}
}
