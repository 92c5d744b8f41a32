// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// docs/architecture.md law 3: if a result is computed on a Snapshot from before a change, at a time at which CEL reads other properties or
// returns another value than before, the Placement is enqueued.
func TestWhatChangesUnderAnEvaluationWakesThePlacement(t *testing.T) {
	const fallback = `managedCluster.scores("demo").size() > 0 || managedCluster.metadata.labels["fallback"] == "yes"`
	until := metav1.NewTime(now.Add(time.Minute))
	tainted := named("c1", "fallback", "yes")
	tainted.Spec.Taints = []clusterv1.Taint{taint("full", "", noSelect)}
	for _, tc := range []struct {
		reason, expression string
		after              *clusterv1.ManagedCluster
		first, old, is     int
	}{
		{"what CEL reads after the scores have expired", fallback, named("c1", "fallback", "no"), 1, 1, 0},
		{"what counts of a cluster that matches after the scores have expired", `managedCluster.scores("demo").size() == 0`, tainted, 0, 1, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c1", "fallback", "yes"))
			w.inventory.SetScores(scoreOf("c1", "demo", &until, clusterv1alpha1.AddOnPlacementScoreItem{Name: "x", Value: 1}))
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{Predicates: anyOf{byCEL(tc.expression)}}))
			w.inventory.Subscribe(request.Key, request.Dependencies())
			first := Schedule(request, w.inventory.SnapshotFor(request.Key), nil, now)
			expect(t, "selected at first", tc.first, len(first.Selected))
			begun := w.inventory.SnapshotFor(request.Key) // The time at which the placement asked to be woken has come.
			affected := w.inventory.SetCluster(tc.after)

			old := Schedule(request, begun, nil, until.Add(1))
			expect(t, "selected on the old snapshot", tc.old, len(old.Selected))
			is := Schedule(request, w.inventory.SnapshotFor(request.Key), nil, until.Add(1))
			expect(t, "selected on the new one", tc.is, len(is.Selected))
			expect(t, "woken", true, slices.Contains(affected.Subscribers, request.Key))
		})
	}
}
