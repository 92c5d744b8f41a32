// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// scraped are the values of the series of the hub, with the values of their labels in the order of the labels' names; a histogram counts.
func scraped(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}

	for _, family := range families {
		short, found := strings.CutPrefix(family.GetName(), "placement_hub_")
		if !found {
			continue
		}

		for _, metric := range family.GetMetric() {
			words := []string{short}
			for _, label := range metric.GetLabel() {
				words = append(words, label.GetValue())
			}
			values[strings.Join(words, " ")] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
		}
	}

	return values
}

// expectScraped compares what has been counted since, of the series that begin with one of the names.
func expectScraped(t *testing.T, when string, since, want map[string]float64, names ...string) {
	t.Helper()
	got := map[string]float64{}
	for series, value := range scraped(t) {
		for _, name := range names {
			if changed := value - since[series]; changed != 0 && (series == name || strings.HasPrefix(series, name+" ")) {
				got[series] = changed
			}
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

var gaugeSeries = []string{
	"placements", "misconfigured_placements", "stalled_placements", "skipped_placements", "decisions", "decision_pages", "placement_clusters",
}

// What is told of the placements follows them, from the first evaluation on until they are gone.
func TestGaugesFollowThePlacements(t *testing.T) {
	q := priorityqueue.New[inventory.Key]("collector")
	defer q.ShutDown()
	since := scraped(t)
	r := settled(t, "p")
	r.state.Queue.SetQueue(q)
	expectScraped(t, "before it leads", since, map[string]float64{}, gaugeSeries...)

	r.state.placements.Lead()
	defer r.state.placements.Resign()
	expectScraped(t, "two clusters are selected", since, map[string]float64{
		"placements AllDecisionsScheduled true": 1, "decisions": 2, "decision_pages": 1, "placement_clusters Selected": 2,
	}, gaugeSeries...)

	placement := &clusterv1beta1.Placement{}
	key := placementKey("p")
	change := func(change func()) {
		t.Helper()
		if err := r.client.Get(t.Context(), key.NamespacedName, placement); err != nil {
			t.Fatal(err)
		}
		placement.Generation++
		change()
		if err := r.client.Update(t.Context(), placement); err != nil {
			t.Fatal(err)
		}
		r.state.ForgetWrites(key) // The cache has caught up.

		if _, err := r.Reconcile(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}

	change(func() { placement.Spec.NumberOfClusters = ptr.To[int32](3) })
	expectScraped(t, "three are wanted", since, map[string]float64{
		"placements NotAllDecisionsScheduled false": 1, "decisions": 2, "decision_pages": 1, "placement_clusters Selected": 2,
	}, gaugeSeries...)

	change(func() { placement.Spec.NumberOfClusters = ptr.To[int32](1) })
	expectScraped(t, "one is wanted", since, map[string]float64{
		"placements AllDecisionsScheduled true": 1, "decisions": 1, "decision_pages": 1, "placement_clusters Selected": 1,
		"placement_clusters Rank": 1,
	}, gaugeSeries...)

	change(func() { placement.Spec.Tolerations = []clusterv1beta1.Toleration{{Operator: "Exists", Value: "x"}} })
	expectScraped(t, "a mistake", since, map[string]float64{
		"placements NotAllDecisionsScheduled false": 1, "misconfigured_placements": 1, "stalled_placements": 1, "decisions": 1,
		"decision_pages": 1,
	}, gaugeSeries...)

	change(func() { placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"} })
	expectScraped(t, "it is disabled", since, map[string]float64{"skipped_placements disabled": 1}, gaugeSeries...)
	f := &eventHandlers{state: r.state}
	f.placements(api.V1beta1).OnDelete(placement)
	expectScraped(t, "it is gone", since, map[string]float64{}, gaugeSeries...)
}

// A placement that was disabled before the hub started is never evaluated, and still told of.
func TestDisabledPlacementsAreCounted(t *testing.T) {
	r := settled(t)
	f := &eventHandlers{state: r.state}
	since := scraped(t)
	r.state.placements.Lead()
	defer r.state.placements.Resign()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "off", Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
	}}
	f.updatePlacement(nil, api.V1beta1.Read(placement), true)
	expectScraped(t, "it is disabled", since, map[string]float64{"skipped_placements disabled": 1}, gaugeSeries...)

	placement.DeletionTimestamp = ptr.To(metav1.Now())
	f.updatePlacement(api.V1beta1.Read(placement), api.V1beta1.Read(placement), false)
	expectScraped(t, "it is being deleted", since, map[string]float64{"skipped_placements deleting": 1}, gaugeSeries...)
}

// What an evaluation is for, what came of it, and how long that took.
func TestEvaluationsAreCountedByCause(t *testing.T) {
	q := priorityqueue.New[inventory.Key]("causes")
	defer q.ShutDown()
	r := settled(t, "p")
	r.state.Queue.SetQueue(q)

	f := &eventHandlers{state: r.state}
	series := []string{"evaluations_total", "decision_latency_seconds", "decision_changes_total", "writes_total", "write_duration_seconds"}
	look := func() {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), placementKey("p")); err != nil {
			t.Fatal(err)
		}
	}

	since := scraped(t)
	look()
	expectScraped(t, "nothing has changed", since, map[string]float64{"evaluations_total time unchanged": 1}, series...)
	since = scraped(t)

	f.state.Shared.Set(inventory.Clusters, &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c3", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
	})
	r.state.inventory.DeleteCluster("c1")
	look()
	expectScraped(t, "a cluster comes, and another one goes", since, map[string]float64{
		"evaluations_total cluster changed": 1, "decision_latency_seconds cluster": 1, "decision_changes_total gained": 1,
		"decision_changes_total lost": 1, "writes_total update_decisions ok": 1, "write_duration_seconds update_decisions ok": 1,
	}, series...)
	since = scraped(t)

	r.state.EnqueueFor(queue.PriorityFleet, "cluster", time.Now(), placementKey("p"))
	look()
	expectScraped(t, "a change that changes nothing", since, map[string]float64{"evaluations_total cluster unchanged": 1}, series...)
}

// The latency of a change goes on until it is written, however often that has to be tried.
func TestWhatFailsIsOwed(t *testing.T) {
	for _, tc := range []struct {
		reason string
		err    error
		result string
	}{
		{"a conflict", apierrors.NewConflict(schema.GroupResource{Resource: "placementdecisions"}, "p", errors.New("too old")), "outdated"},
		{"a failure", errors.New("no answer"), "error"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			q := priorityqueue.New[inventory.Key]("owed")
			defer q.ShutDown()
			r := settled(t, "p")
			r.state.Queue.SetQueue(q)
			r.state.inventory.DeleteCluster("c1")
			r.state.EnqueueFor(queue.PriorityFleet, "binding", time.Now(), placementKey("p"))
			hub, ok := r.client.(client.WithWatch)
			if !ok {
				t.Fatalf("the client is a %T", r.client)
			}

			series := []string{"evaluations_total", "decision_latency_seconds", "writes_total"}
			since := scraped(t)
			r.applier.writer.Client = refusing(hub, tc.err)
			if _, err := r.Reconcile(t.Context(), placementKey("p")); (err != nil) != (tc.result == "error") {
				t.Errorf("got error %v", err)
			}
			r.applier.writer.Client = hub
			if _, err := r.Reconcile(t.Context(), placementKey("p")); err != nil {
				t.Fatal(err)
			}

			got := map[string]float64{
				"evaluations_total binding " + tc.result: 1, "evaluations_total binding changed": 1, "decision_latency_seconds binding": 1,
				"writes_total update_decisions " + tc.result: 1, "writes_total update_decisions ok": 1, "writes_total status ok": 1,
			}
			if tc.result == "error" {
				got["writes_total status error"] = 1
			}
			expectScraped(t, tc.reason, since, got, series...)
		})
	}
}

// refusing is a client whose patches fail.
func refusing(hub client.WithWatch, err error) client.Client {
	return interceptor.NewClient(hub, interceptor.Funcs{SubResourcePatch: func(
		context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption,
	) error {
		return fmt.Errorf("refused: %w", err)
	}})
}

// Heartbeats are most of what a hub hears: what is measured of them allocates nothing.
func TestAHeartbeatIsMeasuredForNothing(t *testing.T) {
	m := settled(t).state
	f := &eventHandlers{state: m}
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
	}
	bare := testing.AllocsPerRun(100, func() { m.inventory.SetCluster(cluster) })
	if measured := testing.AllocsPerRun(100, func() { f.state.Shared.Set(inventory.Clusters, cluster) }); measured != bare {
		t.Errorf("%v allocations, of which %v are the inventory's", measured, bare)
	}
}
