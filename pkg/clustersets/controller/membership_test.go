// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

func setOf(name string, generation int64, labels *metav1.LabelSelector) *clusterv1beta2.ManagedClusterSet {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Generation: generation}}
	if labels != nil {
		set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: labels}
	}

	return set
}

func clusterOf(name string, labels map[string]string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func inSet(set string) map[string]string {
	return map[string]string{clusterv1beta2.ClusterSetLabel: set}
}

// The cost of a cluster event does not depend on the number of other clusters.
func TestSetsAreCompiledOncePerGeneration(t *testing.T) {
	compiled := 0
	m := newMembership(func(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
		compiled++

		return inventory.NewClusterSet(selector.NewCompiler(), set)
	})

	const many = 50

	for i := range many {
		m.update(setOf(fmt.Sprint("exclusive", i), 1, nil))
		m.update(setOf(fmt.Sprint("selecting", i), 1, &metav1.LabelSelector{MatchLabels: map[string]string{"n": strconv.Itoa(i)}}))
	}

	for i := range many {
		m.affected(nil, clusterOf(fmt.Sprint("c", i), inSet("exclusive1")))
		m.get(setOf(fmt.Sprint("exclusive", i), 1, nil))
		m.update(setOf(fmt.Sprint("selecting", i), 1, &metav1.LabelSelector{})) // Only its status can have changed.
	}

	if compiled != 2*many {
		t.Errorf("%d sets were compiled %d times", 2*many, compiled)
	}

	m.update(setOf("exclusive1", 2, nil))

	if compiled != 2*many+1 {
		t.Errorf("a new generation was compiled %d times, want once", compiled-2*many)
	}
}

func TestMembershipChanges(t *testing.T) {
	eu := &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}
	broken := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: "Is"}}}
	m := newMembership(func(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
		return inventory.NewClusterSet(selector.NewCompiler(), set)
	})
	m.update(setOf("prod", 1, nil))
	m.update(setOf("dev", 1, nil))
	m.update(setOf("eu", 1, eu))
	m.update(setOf("global", 1, &metav1.LabelSelector{}))
	m.update(setOf("broken", 1, broken))
	m.update(setOf("late", 1, nil))
	m.update(setOf("late", 2, eu)) // It does not go by the label of sets any more.
	m.update(setOf("gone", 1, nil))
	m.forget("gone")

	for _, tc := range []struct {
		reason        string
		before, after client.Object
		want          []string
	}{
		{"a cluster that comes", nil, clusterOf("c", inSet("prod")), []string{"global", "prod"}},
		{"one that goes", clusterOf("c", map[string]string{"region": "eu"}), nil, []string{"eu", "global", "late"}},
		{"one that moves", clusterOf("c", inSet("prod")), clusterOf("c", inSet("dev")), []string{"dev", "prod"}},
		{"one that leaves for a set that does not exist", clusterOf("c", inSet("dev")), clusterOf("c", inSet("gone")), []string{"dev"}},
		{
			"a label that no set reads", clusterOf("c", inSet("dev")),
			clusterOf("c", map[string]string{clusterv1beta2.ClusterSetLabel: "dev", "a": "b"}), nil,
		},
		{"no set for a set with a selector", clusterOf("c", nil), clusterOf("c", inSet("late")), nil},
	} {
		got := m.affected(tc.before, tc.after)
		slices.Sort(got)

		if !cmp.Equal(tc.want, got) {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// The naive reference matches every set with every cluster.
func TestMembershipIsWhatEverySetSays(t *testing.T) {
	keys, values := []string{clusterv1beta2.ClusterSetLabel, "region"}, []string{"", "a", "b", "eu"}
	labels := rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom(values), 0, 2)

	property.Check(t, func(t *rapid.T) {
		compile := func(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
			return inventory.NewClusterSet(selector.NewCompiler(), set)
		}
		m, all := newMembership(compile), map[string]*clusterv1beta2.ManagedClusterSet{}

		for generation := range rapid.IntRange(0, 8).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "set")
			if rapid.IntRange(0, 4).Draw(t, "gone") == 0 {
				m.forget(name)
				delete(all, name)

				continue
			}

			set := setOf(name, int64(generation), nil)
			if rapid.Bool().Draw(t, "selects") {
				set = setOf(name, int64(generation), &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}})
			}

			m.update(set)
			all[name] = set
		}

		var before, after client.Object
		if rapid.Bool().Draw(t, "was there") {
			before = clusterOf("x", labels.Draw(t, "before"))
		}

		if before == nil || rapid.Bool().Draw(t, "stays") {
			after = clusterOf("x", labels.Draw(t, "after"))
		}

		var want []string

		for name, set := range all {
			if compiled := compile(set); contains(compiled, before) != contains(compiled, after) {
				want = append(want, name)
			}
		}

		got := m.affected(before, after)
		slices.Sort(want)
		slices.Sort(got)

		if !slices.Equal(want, got) {
			t.Fatalf("from %v to %v: %q, want %q", before, after, got, want)
		}
	})
}

// The initial event of every set enqueues it, so the initial events of clusters need not. In the bubble of synctest a sleep takes no real time.
func TestInitialClustersQueueNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &clusterSetReconciler{members: newMembership(func(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
			return inventory.NewClusterSet(selector.NewCompiler(), set)
		})}
		queue := newQueue()

		defer queue.ShutDown()

		r.setChanges().Create(t.Context(), event.CreateEvent{Object: setOf("prod", 1, nil), IsInInitialList: true}, queue)
		wantQueued(t, queue, "prod")

		r.setChanges().Create(t.Context(), event.CreateEvent{Object: setOf("dev", 1, nil)}, queue)
		wantQueued(t, queue, "dev")

		for _, set := range []string{"dev", "prod"} {
			r.clusterChanges().Create(t.Context(), event.CreateEvent{Object: clusterOf("c", inSet(set)), IsInInitialList: true}, queue)
		}

		time.Sleep(settleDelay)
		wantQueued(t, queue)

		r.clusterChanges().Create(t.Context(), event.CreateEvent{Object: clusterOf("d", inSet("prod"))}, queue)
		time.Sleep(settleDelay)
		wantQueued(t, queue, "prod")
	})
}

// Many changes at once, and the own write that follows, enqueue a set once. A change of its spec does not wait. A sleep in the bubble of synctest
// takes no real time.
func TestChangesOfASetAreCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &clusterSetReconciler{members: newMembership(func(set *clusterv1beta2.ManagedClusterSet) *inventory.ClusterSet {
			return inventory.NewClusterSet(selector.NewCompiler(), set)
		})}
		queue := newQueue()

		defer queue.ShutDown()

		prod := setOf("prod", 1, nil)
		r.setChanges().Create(t.Context(), event.CreateEvent{Object: prod}, queue)
		wantQueued(t, queue, "prod")

		for i := range 100 {
			r.clusterChanges().Create(t.Context(), event.CreateEvent{Object: clusterOf(fmt.Sprint("c", i), inSet("prod"))}, queue)
			time.Sleep(time.Millisecond)
		}

		r.setChanges().Update(t.Context(), event.UpdateEvent{ObjectOld: prod, ObjectNew: prod}, queue)
		wantQueued(t, queue)
		time.Sleep(settleDelay)
		wantQueued(t, queue, "prod")
		time.Sleep(2 * settleDelay)
		wantQueued(t, queue)

		r.setChanges().Update(t.Context(), event.UpdateEvent{ObjectOld: prod, ObjectNew: setOf("prod", 2, nil)}, queue)
		wantQueued(t, queue, "prod")
	})
}

func newQueue() workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
}

// wantQueued takes all requests from the queue once nothing else can happen now.
func wantQueued(t *testing.T, queue workqueue.TypedRateLimitingInterface[reconcile.Request], want ...string) {
	t.Helper()
	synctest.Wait()

	var got []string

	for range queue.Len() {
		request, _ := queue.Get()
		got = append(got, request.Name)
		queue.Done(request)
	}

	if !slices.Equal(got, want) {
		t.Errorf("queued are the sets %q, want %q", got, want)
	}
}
