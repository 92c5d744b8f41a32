// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// standby is a feed whose queue nobody works on until elect is called.
func standby(t *testing.T) (f *eventHandlers, q priorityqueue.PriorityQueue[inventory.Key], elect func()) {
	t.Helper()
	elected := make(chan struct{})
	shared := sharedinventory.New()
	shared.Checker = freshness.New(nil, shared.Observed, nil)
	f = &eventHandlers{
		state: newState(shared, servedAPIs{apis: api.Adapters()}, testingclock.NewFakePassiveClock(time.Unix(0, 0))), cache: deafCache{},
		elected: elected,
	}
	f.state.Synced.Store(true)

	q = priorityqueue.New[inventory.Key]("standby")
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		q.ShutDown()
	})
	if err := f.source().Start(ctx, q); err != nil {
		t.Fatal(err)
	}
	return f, q, func() { close(elected) }
}

func named(name string) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: "1"}}
}

// What comes and goes on a standby leaves nothing behind: neither in the queue, which nobody works on, nor in the memory of what was woken.
// Once it is elected it looks at every placement of that time, and what happens from then on wakes as ever.
func TestAStandbyWakesNobodyUntilItIsElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, q, elect := standby(t)
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}}
		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}}
		f.state.Shared.Set(inventory.ClusterSets, set)

		for i := range 10 {
			name := fmt.Sprintf("p%d", i)
			f.updatePlacement(nil, api.V1beta1.Read(named(name)), false)
			f.state.inventory.SnapshotFor(placementKey(name)) // So that changes concern it.
			f.state.Shared.Set(inventory.Bindings, binding)
			f.state.Shared.Delete(inventory.Bindings, binding)
			if i > 1 {
				f.placements(api.V1beta1).OnDelete(named(name))
			}
		}

		synctest.Wait()
		if woken := drained(q); len(woken) > 0 {
			t.Errorf("a standby has put %v into a queue that nobody works on", woken)
		}
		if change := f.state.Queue.Get(placementKey("p9")); change != (queue.Change{}) {
			t.Errorf("a standby remembers %v of what is gone", change)
		}
		elect()
		synctest.Wait()

		if diff := cmp.Diff(map[string]int{"p0": queue.PriorityInitial, "p1": queue.PriorityInitial}, drained(q)); diff != "" {
			t.Errorf("woken by the election (-want +got):\n%s", diff)
		}
		f.state.Queue.Get(placementKey("p0"))
		f.updatePlacement(nil, api.V1beta1.Read(named("p0")), false)
		if diff := cmp.Diff(map[string]int{"p0": queue.PriorityUser}, drained(q)); diff != "" {
			t.Errorf("woken after the election (-want +got):\n%s", diff)
		}
	})
}

// Whenever the election comes while placements are made, none of them is missed.
func TestNothingIsMissedAroundTheElection(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			f, q, elect := standby(t)
			want := map[string]int{}
			for i := range 200 {
				name := fmt.Sprintf("p%d", i)
				want[name] = 0
				if i == 100 {
					go elect()
				}
				f.updatePlacement(nil, api.V1beta1.Read(named(name)), false)
			}

			synctest.Wait()
			woken := drained(q)
			for name := range woken {
				woken[name] = 0 // However soon.
			}
			if diff := cmp.Diff(want, woken); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}
