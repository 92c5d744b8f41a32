// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// isPlacement reports whether a request is about a placement. The answer to a patch of its status is read as metadata.
func isPlacement(object client.Object) bool { return object.GetName() == "p" }

// recorded is what the status records of departures; empty when it records none.
func (b *budgeted) recorded() string {
	condition := meta.FindStatusCondition(b.placement().Status.Conditions, removalbudget.RecordCondition)
	if condition == nil {
		return ""
	}
	return condition.Message
}

// What has left counts for the process that leads next too, and for a standby that only looks.
func TestTheWindowOutlivesTheProcess(t *testing.T) {
	g := newBudgeted(t)
	g.remove(0, 70)
	g.reconcile()
	g.expect(180, metav1.ConditionFalse, removalbudget.ReasonNothingHeld)

	g.restart()
	g.clock.SetTime(g.clock.Now().Add(4 * time.Minute))
	g.remove(0, 80)
	again := g.reconcile()
	g.expect(180, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
	condition := meta.FindStatusCondition(g.placement().Status.Conditions, removalbudget.Condition)
	if !strings.HasPrefix(condition.Message, "The decisions would lose 80 of 250 clusters, 70 of which have left already: ") {
		t.Errorf("got %q", condition.Message)
	}

	if again != 6*time.Minute {
		t.Errorf("to be looked at again after %v, want 6 minutes", again)
	}
}

// A process that ends between the page and the status has recorded before that what the page loses.
func TestAKillBetweenThePageAndTheStatus(t *testing.T) {
	g := newBudgeted(t)
	g.remove(0, 40)
	writes := 0
	g.refused = func(_ string, object client.Object) bool {
		if isPlacement(object) {
			writes++
		}
		return writes > 1 // The record is written, and the status after the pages is not.
	}
	g.fail()

	g.refused = nil
	g.restart()
	g.remove(0, 80)
	g.reconcile()
	g.expect(210, metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
}

// What cannot be recorded does not leave.
func TestNothingLeavesUnrecorded(t *testing.T) {
	g := newBudgeted(t)
	g.remove(0, 70)
	g.refused = func(_ string, object client.Object) bool { return isPlacement(object) }
	g.fail()
	page := &clusterv1beta1.PlacementDecision{}
	if err := g.api.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "p-decision-1"}, page); err != nil {
		t.Fatal(err)
	}

	if len(page.Status.Decisions) != 100 {
		t.Errorf("the first page has %d clusters", len(page.Status.Decisions))
	}
}

// The record is written when clusters leave, stays as it is while nothing else is to be written, and goes with the next write.
func TestTheRecordIsQuiet(t *testing.T) {
	g := newBudgeted(t)

	statuses := 0
	g.refused = func(_ string, object client.Object) bool {
		if isPlacement(object) {
			statuses++
		}
		return false
	}

	expect := func(when string, want int, record string) {
		t.Helper()
		if statuses != want || !strings.Contains(g.recorded(), record) || (record == "") != (g.recorded() == "") {
			t.Errorf("%s: %d writes of the status, want %d; it records %q", when, statuses, want, g.recorded())
		}
		statuses = 0
	}
	g.reconcile()
	expect("nothing leaves", 0, "")

	g.remove(0, 2)
	g.reconcile()
	expect("two leave", 2, `[{"time":"2026-01-02T03:04:05Z","clusters":["c000","c001"]}]`)

	g.clock.SetTime(g.clock.Now().Add(removalbudget.Window))
	g.reconcile()
	expect("the window is over", 0, `"clusters":["c000","c001"]`)

	g.remove(2, 3)
	g.reconcile()
	expect("one more leaves", 2, `[{"time":"2026-01-02T03:14:05Z","clusters":["c002"]}]`)

	g.edit(func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = new(int32(20)) })
	g.reconcile()
	g.reconcile()
	if g.recorded() != "" {
		t.Errorf("after a change of the spec %q is recorded", g.recorded())
	}
	g.edit(func(p *clusterv1beta1.Placement) {
		p.Annotations = map[string]string{removalbudget.PercentAnnotation: "100"}
	})
	g.reconcile()

	statuses = 0
	g.remove(3, 250)
	g.reconcile()
	expect("the hub alone has a limit", 2, `[{"time":"2026-01-02T03:14:05Z","clusters":["c003"`)
}
