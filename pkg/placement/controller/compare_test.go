// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// counted is what a counter says whose only label, if it has one, has the value; 0 when there is none yet.
func counted(t *testing.T, name string, label ...string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}

	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, pair := range metric.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			if family.GetName() == name && slices.Equal(labels, label) {
				return metric.GetCounter().GetValue()
			}
		}
	}

	return 0
}

// settled is a hub of the clusters c1 and c2 whose placements have been evaluated.
func settled(t *testing.T, names ...string) *reconciler {
	t.Helper()
	store := newClientBuilder().WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{})
	for _, name := range names {
		store = store.WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Generation: 1}})
	}
	r, _ := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, store)
	r.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	r.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})

	for _, name := range []string{"c1", "c2"} {
		r.state.inventory.SetCluster(&clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
		})
	}
	for _, name := range names {
		if _, err := r.Reconcile(t.Context(), placementKey(name)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func placementKey(name string) inventory.Key {
	return inventory.NewPlacementKey(inventory.V1beta1, "ns", name)
}

// drained are the names and priorities of the keys in a queue.
func drained(q priorityqueue.PriorityQueue[inventory.Key]) map[string]int {
	found := map[string]int{}
	for q.Len() > 0 {
		key, priority, _ := q.GetWithPriority()
		found[key.Name] = priority
		q.Done(key)
	}
	return found
}

// A view that is corrupt gives a wrong answer: it is counted, the log names the placement and the difference, what the engine keeps is made
// anew, and the placement is woken with the right answer, the others after all else.
func TestCorruptInventoryIsFoundAndCorrected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := settled(t, "p", "q")
		q := priorityqueue.New[inventory.Key]("compare")
		r.state.Queue.SetQueue(q)

		corrupt, right := false, r.decider.engine.schedule
		r.decider.engine.schedule = func(
			request *scheduling.Request, snapshot *inventory.Snapshot, incumbents scheduling.Incumbents, now time.Time, watch scheduling.Recorder,
		) *scheduling.Result {
			if corrupt {
				snapshot = inventory.New(nil).Snapshot()
			}
			return right(request, snapshot, incumbents, now, watch)
		}
		r.decider.engine.rebuild = func() { corrupt = false }

		var lines []string

		log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		run := func(d time.Duration) {
			t.Helper()
			ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), log), d)
			defer cancel()
			if err := r.decider.comparer().Start(ctx); err != nil {
				t.Error(err)
			}
		}
		comparisons, divergences := counted(t, "placement_hub_comparisons_total"), counted(t, "placement_hub_divergences_total")
		expectCounts := func(compared, diverged float64) {
			t.Helper()
			if n := counted(t, "placement_hub_comparisons_total") - comparisons; n != compared {
				t.Errorf("%v comparisons, want %v", n, compared)
			}
			if n := counted(t, "placement_hub_divergences_total") - divergences; n != diverged {
				t.Errorf("%v divergences, want %v", n, diverged)
			}
		}

		run(2500 * time.Millisecond)
		expectCounts(2, 0)
		corrupt = true
		run(1500 * time.Millisecond)
		expectCounts(3, 1)
		woken := drained(q)
		first, second := "p", "q"
		if woken["p"] != queue.PriorityUser {
			first, second = "q", "p"
		}

		if diff := cmp.Diff(map[string]int{first: queue.PriorityUser, second: queue.PriorityRecheck}, woken); diff != "" {
			t.Errorf("woken with priorities (-want +got):\n%s", diff)
		}
		if len(lines) != 1 || !strings.Contains(lines[0], `"placement"={"name"="`+first+`" "namespace"="ns"}`) ||
			!regexp.MustCompile(`"difference"=".+"`).MatchString(lines[0]) {
			t.Errorf("logged %q, want the placement and the difference", lines)
		}
		if _, err := r.Reconcile(t.Context(), placementKey(first)); err != nil {
			t.Fatal(err)
		}

		existing, err := r.existing(t.Context(), api.V1beta1.Codec(), &api.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: first}, API: api.V1beta1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if incumbents := existing.Incumbents(); !incumbents["c1"] || !incumbents["c2"] {
			t.Errorf("decided %v, want c1 and c2", incumbents)
		}

		run(2500 * time.Millisecond)
		expectCounts(5, 1)
		q.ShutDown()
	})
}

// A placement that is gone is not compared, and what is remembered of it goes too; one that has changed since is left to its evaluation.
func TestOnlyWhatWasEvaluatedIsCompared(t *testing.T) {
	r := settled(t, "gone", "changed", "same")
	q := priorityqueue.New[inventory.Key]("compare")
	defer q.ShutDown()
	r.state.Queue.SetQueue(q)
	gone, changed := &clusterv1beta1.Placement{}, &clusterv1beta1.Placement{}
	gone.Namespace, gone.Name = "ns", "gone"
	if err := r.client.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}

	if err := r.client.Get(t.Context(), placementKey("changed").NamespacedName, changed); err != nil {
		t.Fatal(err)
	}
	changed.Generation++
	if err := r.client.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	var compared []string

	for _, key := range r.state.requests.keys() {
		difference, was, err := r.decider.compare(t.Context(), key)
		if err != nil || difference != "" {
			t.Errorf("%v: difference %q and %v", key, difference, err)
		}
		if was {
			compared = append(compared, key.Name)
		}
	}

	if !slices.Equal(compared, []string{"same"}) {
		t.Errorf("compared %v, want same alone", compared)
	}
	if diff := cmp.Diff(map[string]int{"gone": queue.PriorityRecheck}, drained(q)); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	r.state.Synced.Store(false)
	if _, was, err := r.decider.compare(t.Context(), placementKey("same")); was || err != nil {
		t.Errorf("compared %v and %v before the initial lists are in", was, err)
	}
}
