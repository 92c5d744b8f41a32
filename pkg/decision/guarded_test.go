package decision

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// guardedCase is a placement whose decisions have ten clusters.
func guardedCase() (*clusterv1beta1.Placement, Present) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Status.Conditions = []metav1.Condition{
		{Type: "Other", Status: metav1.ConditionTrue}, {Type: ConditionSatisfied, ObservedGeneration: placement.Generation},
	}

	return placement, presentOf(placement, page(1, 0, "", fleet(10)...))
}

// What is held changes nothing but the conditions: ours come first, in their order and about one generation (ours.md A5), and the status
// goes on telling of what stands.
func TestHeldRemovals(t *testing.T) {
	placement, present := guardedCase()
	result, ruling := Guarded(selecting(placement, fleet(2)...), present, new(30), nil, now.Time)
	plan := planOf(result, present)
	status := NewStatus(result, plan, record.V1beta1.Read(placement), now, ruling.Conditions(true)...)

	expect(t, "steps", []string{}, steps(plan))
	expect(t, "groups", []string{`0 "" [p-decision-1] 10`}, told(status.Groups))
	expect(t, "selected", 10, status.Selected)

	types := []string{}

	for _, c := range status.Conditions {
		types = append(types, c.Type+"="+string(c.Status)+" "+c.Reason)

		if c.Type != "Other" && c.ObservedGeneration != placement.Generation {
			t.Errorf("%s is about generation %d", c.Type, c.ObservedGeneration)
		}
	}

	expect(t, "conditions", []string{
		"PlacementMisconfigured=False Succeedconfigured", "PlacementSatisfied=False NotAllDecisionsScheduled",
		"RemovalHeld=True TooManyClustersRemoved", "Other=True ",
	}, types)

	if message := status.Conditions[1].Message; !strings.HasSuffix(message, "see the condition RemovalHeld") {
		t.Errorf("got %q", message)
	}
}

// The references to ClusterProfiles of a placement that is held stay with its own decisions.
func TestHeldProfiles(t *testing.T) {
	placement, present := guardedCase()
	result, _ := Guarded(selecting(placement, fleet(2)...), present, new(30), nil, now.Time)

	answer, missing := Profiles(result, present, present)
	if plan := answer.Plan(present); !plan.Empty() || len(missing) > 0 {
		t.Errorf("got %v and missing %v", steps(plan), missing)
	}
}

// Where nothing is said of shares, the answer is the one that was given, and a condition from before goes.
func TestNothingIsGuardedUnasked(t *testing.T) {
	placement, present := guardedCase()
	placement.Status.Conditions = append(placement.Status.Conditions, metav1.Condition{Type: guard.Condition, Status: metav1.ConditionFalse})

	for _, share := range []*int{nil, new(guard.Off)} {
		answer := selecting(placement, fleet(2)...)

		result, ruling := Guarded(answer, present, share, nil, now.Time)
		if result != answer || len(ruling.Conditions(true)) > 0 {
			t.Errorf("got %+v", ruling)
		}

		for _, c := range NewStatus(result, planOf(result, present), record.V1beta1.Read(placement), now).Conditions {
			if c.Type == guard.Condition {
				t.Errorf("the condition is still there: %+v", c)
			}
		}
	}
}

// What stands only in a page that is being deleted goes with it, and is no loss that could be held.
func TestPagesThatAreBeingDeletedAreNotGuarded(t *testing.T) {
	placement, _ := guardedCase()
	leaving := edited(page(2, 0, "", "c-098", "c-099"), func(p *record.Page) { p.DeletionTimestamp = &now })

	_, ruling := Guarded(selecting(placement, fleet(2)...), presentOf(placement, page(1, 0, "", fleet(2)...), leaving), new(30), nil, now.Time)
	if ruling.Held {
		t.Errorf("got %+v", ruling)
	}
}
