// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// TestExpressionsThatCostTooMuchAreQuarantined checks that the fourth evaluation of a Placement whose CEL expression costs too much does not
// evaluate the expression, keeps the decisions, says so in a condition and comes again after ten minutes (docs/spec/differences.md C2).
func TestExpressionsThatCostTooMuchAreQuarantined(t *testing.T) {
	const loop = `[1,2,3,4,5,6,7,8,9,10].all(%s, `
	expression := `managedCluster.metadata.name != "x"`
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		expression = fmt.Sprintf(loop, name) + expression + ")"
	}

	p := &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: 1},
		Spec: clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{expression}},
		}}}},
	}
	kept := &clusterv1beta1.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"}},
		Status:     clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{{ClusterName: "c0"}}},
	}

	r, hub := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, newClientBuilder().
		WithObjects(p, kept).WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}))
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.state.clock = clocktesting.NewFakePassiveClock(begin)
	r.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	r.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})

	for n := range 12 {
		r.state.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("c%d", n), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"},
		}})
	}

	for n, want := range []string{"may cost, 8000000", "may cost, 8000000", "may cost, 8000000", "in 3 evaluations in a row"} {
		result, err := r.Reconcile(t.Context(), placementKey("p"))
		if err != nil {
			t.Fatal(err)
		}
		var is clusterv1beta1.Placement
		if err := hub.Get(t.Context(), client.ObjectKeyFromObject(p), &is); err != nil {
			t.Fatal(err)
		}

		condition := meta.FindStatusCondition(is.Status.Conditions, placement.ConditionMisconfigured)
		if condition == nil || condition.Status != metav1.ConditionTrue || !strings.Contains(condition.Message, want) {
			t.Errorf("evaluation %d: condition %+v, want one that says %q", n+1, condition, want)
		}
		if again := 10 * time.Minute; n == 3 && result.RequeueAfter != again {
			t.Errorf("it comes again after %v, want %v", result.RequeueAfter, again)
		}
	}

	var page clusterv1beta1.PlacementDecision
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(kept), &page); err != nil || len(page.Status.Decisions) != 1 {
		t.Errorf("the decisions are %v (%v), want those before", page.Status.Decisions, err)
	}
}
