// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var subscribed = inventory.Key{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}, GroupKind: "ConfigMap"}

// newQueuedSubscriber returns a Subscriber with a queue.
func newQueuedSubscriber(t *testing.T) *Subscriber {
	t.Helper()
	q := priorityqueue.New[inventory.Key]("subscriber")
	t.Cleanup(q.ShutDown)
	s := NewSubscriber(New())
	s.Queue.SetQueue(q)
	return s
}

func TestNothingIsEnqueuedBeforeTheElection(t *testing.T) {
	s := NewSubscriber(New())
	s.Enqueue(queue.PriorityUser, "", subscribed)
	if s.Queue.Queued(subscribed) {
		t.Error("a key is enqueued on a standby")
	}
}

func TestChangesOfTheInventoryEnqueueAfterTheInitialLists(t *testing.T) {
	s := newQueuedSubscriber(t)
	affected := inventory.Affected{Subscribers: []inventory.Key{subscribed}}
	s.EnqueueAffected(time.Now(), affected)
	if s.Queue.Queued(subscribed) {
		t.Error("an incomplete inventory has enqueued a key")
	}
	s.Synced.Store(true)
	s.EnqueueAffected(time.Now(), affected)

	if !s.Queue.Queued(subscribed) {
		t.Error("a change of the inventory enqueues nothing")
	}
}

// A key that waits for the initial lists keeps its change, for which its evaluation is counted later.
func TestBeginKeepsTheChangeUntilTheInitialListsAreThere(t *testing.T) {
	s := newQueuedSubscriber(t)
	s.Counted = true
	at := time.Now()
	s.EnqueueChanged(false, "binding", at, subscribed)
	if _, synced := s.Begin(subscribed); synced {
		t.Fatal("a key is evaluated on an incomplete inventory")
	}
	s.Synced.Store(true)

	if change, synced := s.Begin(subscribed); !synced || change.Cause == nil || !change.At.Equal(at) {
		t.Errorf("got %v, %v", change, synced)
	}
}

func TestResumeEnqueuesForWritesOfOthers(t *testing.T) {
	s := newQueuedSubscriber(t)
	settled := 0
	s.Settled = func(inventory.Key) { settled++ }

	writes := assumecache.New[inventory.Key, *clusterv1.ManagedCluster](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
	Track(s, "cluster", writes, func(*clusterv1.ManagedCluster) client.Object { return &clusterv1.ManagedCluster{} },
		func(object runtime.Object) *clusterv1.ManagedCluster {
			cluster, _ := object.(*clusterv1.ManagedCluster)
			return cluster
		})
	own := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "c", ResourceVersion: "2"}}
	others := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "c", ResourceVersion: "3"}}

	s.Pause(subscribed)
	writes.Assume(subscribed, own)
	writes.Observe(subscribed, own, false)
	s.Resume(subscribed)
	if s.Queue.Queued(subscribed) {
		t.Error("an own write enqueues its owner")
	}
	s.Pause(subscribed)
	writes.Observe(subscribed, others, false)
	s.Resume(subscribed)

	if !s.Queue.Queued(subscribed) {
		t.Error("a write of others enqueues nothing")
	}
	s.ForgetWrites(subscribed)
	if settled != 3 {
		t.Errorf("settled %d times, want 3", settled)
	}
}

func TestAfterIsBounded(t *testing.T) {
	for wait, want := range map[time.Duration]time.Duration{0: 0, time.Minute: time.Minute, time.Hour: LongestWait} {
		if got := After(wait).RequeueAfter; got != want {
			t.Errorf("%s: looks again after %s, want %s", wait, got, want)
		}
	}
}
