// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// thirty are the options of a hub with a removal limit of 30 %.
var thirty = Options{Limit: removalbudget.Limit{Percent: new(30)}}

// tenDecided returns a Placement whose decisions have ten clusters.
func tenDecided() (*clusterv1beta1.Placement, Existing) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Status.Conditions = []metav1.Condition{
		{Type: "Other", Status: metav1.ConditionTrue}, {Type: ConditionSatisfied, ObservedGeneration: placement.Generation},
	}
	return placement, existingOf(placement, page(1, 0, "", fleet(10)...))
}

// A held result changes only the conditions: those of the hub come first, in their order and with one generation
// (docs/spec/differences.md A5), and the status describes the existing decisions.
func TestBlockedRemovals(t *testing.T) {
	placement, existing := tenDecided()
	evaluation := evaluate(selecting(placement, fleet(2)...), existing, thirty, now.Time)
	status := evaluation.Status(api.V1beta1.Read(placement), now, true)
	expect(t, "steps", []string{}, steps(evaluation.Plan))
	expect(t, "groups", []string{`0 "" [p-decision-1] 10`}, reported(status.Groups))
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
		"RemovalBudget=True Recorded", "RemovalHeld=True TooManyClustersRemoved", "Other=True ",
	}, types)

	if message := status.Conditions[1].Message; !strings.HasSuffix(message, "see the condition RemovalHeld") {
		t.Errorf("got %q", message)
	}
}

// The references to ClusterProfiles of a Placement with a held result stay, like its decisions.
func TestBlockedProfiles(t *testing.T) {
	placement, existing := tenDecided()
	evaluation := evaluate(selecting(placement, fleet(2)...), existing, thirty, now.Time)
	answer, missing := Profiles(evaluation.Result, existing, existing)
	if plan := answer.Plan(); !plan.Empty() || len(missing) > 0 {
		t.Errorf("got %v and missing %v", steps(plan), missing)
	}
}

// Without a removal limit the result is not changed, and an existing condition is removed.
func TestNothingIsLimitedByDefault(t *testing.T) {
	placement, existing := tenDecided()
	placement.Status.Conditions = append(placement.Status.Conditions, metav1.Condition{Type: removalbudget.Condition, Status: metav1.ConditionFalse})
	for _, share := range []*int{nil, new(removalbudget.NoLimit)} {
		answer := selecting(placement, fleet(2)...)
		evaluation := evaluate(answer, existing, Options{Limit: removalbudget.Limit{Percent: share}}, now.Time)
		if evaluation.Result != answer || len(evaluation.BudgetResult.Conditions(true)) > 0 {
			t.Errorf("got %+v", evaluation.BudgetResult)
		}
		for _, c := range evaluation.Status(api.V1beta1.Read(placement), now, true).Conditions {
			if c.Type == removalbudget.Condition {
				t.Errorf("the condition is still there: %+v", c)
			}
		}
	}
}

// A cluster that only a terminating page has counts for the budget, and stays on that page while its removal is held.
func TestPagesThatAreBeingDeletedAreGuarded(t *testing.T) {
	placement, _ := tenDecided()
	leaving := edited(page(2, 0, "", "c-098", "c-099"), func(p *api.Page) { p.DeletionTimestamp = &now })
	existing := existingOf(placement, page(1, 0, "", fleet(2)...), leaving)
	evaluation := evaluate(selecting(placement, fleet(2)...), existing, thirty, now.Time)
	if !evaluation.BudgetResult.Held {
		t.Errorf("got %+v", evaluation.BudgetResult)
	}
	expect(t, "steps", []string{}, steps(evaluation.Plan))
	expect(t, "selected", 4, evaluation.Plan.Selected)
}

// The condition about ClusterProfiles stays if it is unknown whether the hub writes references to them, follows the evaluation if it does,
// and is removed if it does not.
func TestTheProfilesConditionIsKept(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	before := metav1.Condition{Type: ConditionProfilesFound, Status: metav1.ConditionTrue, Reason: ReasonProfilesFound, Message: "as it was"}
	placement.Status.Conditions = []metav1.Condition{before}
	existing := existingOf(placement, page(1, 0, "", fleet(2)...))

	for _, tc := range []struct {
		reason string
		known  *bool
		want   string
	}{
		{reason: "not known", want: "True as it was"},
		{
			reason: "it writes references", known: new(true),
			want: "False 2 of 2 selected clusters have no ClusterProfile and are left out of the PlacementDecisions of multicluster.x-k8s.io: " +
				"c-001, c-002",
		},
		{reason: "it writes none", known: new(false)},
	} {
		evaluation := evaluate(selecting(placement, fleet(2)...), existing, Options{ProfileDecisions: tc.known}, now.Time)
		got := ""
		for _, c := range evaluation.Status(api.V1beta1.Read(placement), now, true).Conditions {
			if c.Type == ConditionProfilesFound {
				got = string(c.Status) + " " + c.Message
			}
		}
		expect(t, tc.reason, tc.want, got)
	}
}

// Removals are recorded before they happen, beside the existing conditions and with their generation (docs/spec/differences.md A5).
func TestReserve(t *testing.T) {
	placement, existing := tenDecided()
	read := api.V1beta1.Read(placement)
	evaluation := evaluate(selecting(placement, fleet(8)...), existing, thirty, now.Time)

	status, needed := evaluation.Reserve(read, now)
	if !needed || len(status.Conditions) != 3 || len(read.Status.Conditions) != 2 {
		t.Fatalf("needed %v: %v", needed, status.Conditions)
	}
	recorded := status.Conditions[2]
	if recorded.ObservedGeneration != placement.Generation || recorded.Type != removalbudget.RecordCondition ||
		!strings.HasSuffix(recorded.Message, `"clusters":["c-009","c-010"]}]`) {
		t.Errorf("got %+v", recorded)
	}

	read.Status = status
	existing.Placement = read

	again := evaluate(selecting(placement, fleet(8)...), existing, thirty, now.Time)
	if _, needed := again.Reserve(read, now); needed {
		t.Error("what is recorded is to be recorded again")
	}
	types := []string{}
	for _, c := range again.Status(read, now, true).Conditions {
		types = append(types, c.Type)
	}
	expect(t, "conditions", []string{"PlacementMisconfigured", "PlacementSatisfied", "RecentRemovals", "RemovalHeld", "Other"}, types)
}

// docs/spec/differences.md B18: a scope that was lost and comes back gets its former clusters, for as long as they are recorded. A decision that
// is full is not changed by the record.
func TestB18RecordedClustersComeBack(t *testing.T) {
	left := func(ago time.Duration, clusters string) metav1.Condition {
		removals := `[{"time":"` + now.Add(-ago).UTC().Format(time.RFC3339) + `","clusters":[` + clusters + `]}]`
		return metav1.Condition{
			Type: removalbudget.RecordCondition, Message: "Clusters that left the decisions, and count as removed for 10 minutes: " + removals,
		}
	}
	for _, tc := range []struct {
		reason   string
		record   metav1.Condition
		existing []string
		takenOut []string
		want     []string
	}{
		{"no record", metav1.Condition{Type: "Other"}, nil, nil, []string{"c-001", "c-002"}},
		{"an empty decision", left(time.Minute, `"c-004","c-003"`), nil, nil, []string{"c-003", "c-004"}},
		{"a short one", left(time.Minute, `"c-003"`), []string{"c-004"}, nil, []string{"c-003", "c-004"}},
		{"a full one", left(time.Minute, `"c-004"`), []string{"c-002", "c-003"}, nil, []string{"c-002", "c-003"}},
		{"the window is over", left(removalbudget.Window, `"c-004","c-003"`), nil, nil, []string{"c-001", "c-002"}},
		{"others have emptied it", metav1.Condition{Type: "Other"}, nil, []string{"c-003", "c-004"}, []string{"c-003", "c-004"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](2)})
			placement.Status.Conditions = []metav1.Condition{{Type: ConditionSatisfied, ObservedGeneration: placement.Generation}, tc.record}
			existing := existingOf(placement, page(1, 0, "", tc.existing...))
			existing.TakenOut = tc.takenOut
			request := api.V1beta1.Read(placement).Request(selector.NewCompiler())
			evaluation := Evaluate(request, stateOf(fleet(4)...).Snapshot(), existing, thirty, now.Time)
			var selected []string
			for _, info := range evaluation.Result.Selected {
				selected = append(selected, info.Name)
			}
			expect(t, "selected", tc.want, selected)
		})
	}
}
