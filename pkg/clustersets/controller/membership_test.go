// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

func setOf(name string, generation int64) *clusterv1beta2.ManagedClusterSet {
	return &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Generation: generation}}
}

func clusterIn(set, name string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: set},
	}}
}

// started returns the inventory of a membership whose initial list is the set prod, and its queue, which is empty.
func started(t *testing.T) (*sharedinventory.Shared, rateLimitingQueue) {
	t.Helper()

	shared, queue := sharedinventory.New(), newQueue()
	m := &membership{
		sets: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(setOf("prod", 1)).Build(),
		listen: func(context.Context) error {
			shared.Set(inventory.ClusterSets, setOf("prod", 1))
			shared.Set(inventory.Clusters, clusterIn("prod", "initial"))
			return nil
		},
	}
	shared.HandleSets(m.enqueue)

	if err := m.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantQueued(t, queue, "default", "global", "prod")
	return shared, queue
}

// The start enqueues every set, so the initial events of clusters need not. In the bubble of synctest a sleep takes no real time.
func TestInitialClustersQueueNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, queue := started(t)
		defer queue.ShutDown()
		time.Sleep(settleDelay)
		wantQueued(t, queue)

		shared.Set(inventory.ClusterSets, setOf("dev", 1))
		wantQueued(t, queue, "dev")

		shared.Set(inventory.Clusters, clusterIn("prod", "d"))
		wantQueued(t, queue)
		time.Sleep(settleDelay)
		wantQueued(t, queue, "prod")

		shared.Delete(inventory.ClusterSets, setOf("prod", 1))
		wantQueued(t, queue, "prod")
	})
}

// Many changes at once, and the own write that follows, enqueue a set once. A change of its spec does not wait. A sleep in the bubble of synctest
// takes no real time.
func TestChangesOfASetAreCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, queue := started(t)
		defer queue.ShutDown()
		for i := range 100 {
			shared.Set(inventory.Clusters, clusterIn("prod", fmt.Sprint("c", i)))
			time.Sleep(time.Millisecond)
		}

		prod := setOf("prod", 1)
		statusChanges.Update(t.Context(), event.UpdateEvent{ObjectOld: prod, ObjectNew: prod}, queue)
		wantQueued(t, queue)
		time.Sleep(settleDelay)
		wantQueued(t, queue, "prod")
		time.Sleep(2 * settleDelay)
		wantQueued(t, queue)

		shared.Set(inventory.ClusterSets, setOf("prod", 2))
		statusChanges.Update(t.Context(), event.UpdateEvent{ObjectOld: prod, ObjectNew: setOf("prod", 2)}, queue)
		wantQueued(t, queue, "prod")
		time.Sleep(2 * settleDelay)
		wantQueued(t, queue)
	})
}

func TestSetsWaitForTheInitialLists(t *testing.T) {
	broken := errors.New("broken")
	m := &membership{listen: func(context.Context) error { return broken }}
	queue := newQueue()
	defer queue.ShutDown()
	if err := m.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitForSync(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}

	m.enqueue(inventory.Affected{Cause: inventory.CauseClusterSet, Sets: []string{"prod"}})
	if queue.Len() != 0 {
		t.Errorf("%d sets are queued by an incomplete inventory", queue.Len())
	}
}

func newQueue() rateLimitingQueue {
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
}

// wantQueued takes all requests from the queue once nothing else can happen now.
func wantQueued(t *testing.T, queue rateLimitingQueue, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for range queue.Len() {
		request, _ := queue.Get()
		got = append(got, request.Name)
		queue.Done(request)
	}
	slices.Sort(got)

	if !slices.Equal(got, want) {
		t.Errorf("queued are the sets %q, want %q", got, want)
	}
}
