// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// inSet is a cluster of the set of settled, with the labels in pairs.
func inSet(name string, labels ...string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
	}
	for i := 0; i < len(labels); i += 2 {
		cluster.Labels[labels[i]] = labels[i+1]
	}
	return cluster
}

// docs/spec/differences.md E2: what happens between an evaluation and the moment from which the placement is told of all that its causes
// depend on is not lost; and once the placement is satisfied, it is told of that no more.
func TestCausesMissNothing(t *testing.T) {
	r := settled(t, "p")
	key := placementKey("p")
	placement := &clusterv1beta1.Placement{}

	reconcile := func() string {
		t.Helper()
		if err := r.client.Get(t.Context(), key.NamespacedName, placement); err != nil {
			t.Fatal(err)
		}
		placement.Generation, placement.Spec.NumberOfClusters = 2, ptr.To[int32](3)
		placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
		}}}

		if err := r.client.Update(t.Context(), placement); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(placement), placement); err != nil {
			t.Fatal(err)
		}
		return placement.Status.Conditions[1].Message
	}
	expect := func(what, want, got string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	comes := func(name string) bool {
		return slices.Contains(r.state.inventory.SetCluster(inSet(name, "region", "us")).Subscribers, key)
	}

	r.state.inventory.SetCluster(inSet("c1", "region", "eu"))
	once := sync.OnceFunc(func() { comes("c3") })
	schedule := r.decider.engine.schedule
	r.decider.engine.schedule = func(
		request *scheduling.Request, s *inventory.Snapshot, incumbents scheduling.Incumbents, now time.Time, watch scheduling.Recorder,
	) *scheduling.Result {
		defer once()
		return schedule(request, s, incumbents, now, watch)
	}

	expect("a cluster that came meanwhile counts",
		"2 cluster decisions unscheduled; 1 of 3 clusters in scope selected; not selected: predicate 1 label region In [eu] (2)", reconcile())
	if !comes("c4") {
		t.Error("an unsatisfied placement is not told of a cluster that does not match")
	}
	expect("the next evaluation counts it",
		"2 cluster decisions unscheduled; 1 of 4 clusters in scope selected; not selected: predicate 1 label region In [eu] (3)", reconcile())
	r.state.inventory.SetCluster(inSet("c2", "region", "eu"))
	r.state.inventory.SetCluster(inSet("c5", "region", "eu"))
	expect("satisfied", "All cluster decisions scheduled", reconcile())

	if comes("c6") {
		t.Error("a satisfied placement is told of a cluster that does not match")
	}
}

// While a removal is held, the condition tells why clusters would leave; the placement is told when that changes, also of clusters that match
// none of its predicates.
func TestCausesOfBlockedRemovalsAreSubscribed(t *testing.T) {
	r := settled(t, "p")
	key := placementKey("p")
	placement := &clusterv1beta1.Placement{}
	expect := func(when string, want string) {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if err := r.client.Get(t.Context(), key.NamespacedName, placement); err != nil {
			t.Fatal(err)
		}

		held := meta.FindStatusCondition(placement.Status.Conditions, removalbudget.Condition)
		if held == nil || !strings.Contains(held.Message, want) {
			t.Errorf("%s: got %+v, want %q", when, held, want)
		}
	}

	for _, name := range []string{"c1", "c2"} {
		r.state.inventory.SetCluster(inSet(name, "region", "eu"))
	}
	if err := r.client.Get(t.Context(), key.NamespacedName, placement); err != nil {
		t.Fatal(err)
	}
	placement.Generation, placement.Annotations = 2, map[string]string{removalbudget.PercentAnnotation: "0"}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
	}}}

	if err := r.client.Update(t.Context(), placement); err != nil {
		t.Fatal(err)
	}
	r.state.ForgetWrites(key) // The cache has caught up.
	expect("all fit", "none may leave")

	r.state.inventory.SetCluster(inSet("c1", "region", "us"))
	expect("a label changes", "causes: predicate 1 label region In [eu] (1).")
	if woken := r.state.inventory.DeleteCluster("c1").Subscribers; !slices.Contains(woken, key) {
		t.Error("the placement is not told that the cluster which it holds is deleted")
	}
	expect("the cluster is deleted", "causes: deleted (1).")
	r.state.inventory.SetCluster(inSet("c1", "region", "eu"))
	expect("it is back", "none may leave")

	if woken := r.state.inventory.SetCluster(inSet("c3", "region", "us")).Subscribers; slices.Contains(woken, key) {
		t.Error("a satisfied placement is told of a cluster that does not match")
	}
}
