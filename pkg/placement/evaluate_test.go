// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
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

// docs/spec/differences.md A5: a record has the generation of the other conditions, and replaces an earlier record.
func TestReserveAmongOtherConditions(t *testing.T) {
	before := metav1.NewTime(now.Add(-time.Hour))
	earlier := metav1.Condition{Type: removalbudget.RecordCondition, LastTransitionTime: before}
	for _, tc := range []struct {
		reason  string
		present []metav1.Condition
		want    []string
	}{
		{"no condition", nil, []string{"RecentRemovals now 7"}},
		{"an earlier generation", []metav1.Condition{{Type: ConditionSatisfied, ObservedGeneration: 3}},
			[]string{"PlacementSatisfied - 3", "RecentRemovals now 3"}},
		{"an earlier record", []metav1.Condition{earlier, {Type: ConditionSatisfied, ObservedGeneration: 7}},
			[]string{"RecentRemovals before 7", "PlacementSatisfied - 7"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement, existing := tenDecided()
			evaluation := evaluate(selecting(placement, fleet(8)...), existing, thirty, now.Time)
			placement.Status.Conditions = tc.present
			status, needed := evaluation.Reserve(api.V1beta1.Read(placement), now)
			expect(t, "needed", true, needed)
			got := []string{}
			for _, c := range status.Conditions {
				word := map[metav1.Time]string{now: "now", before: "before", {}: "-"}[c.LastTransitionTime]
				got = append(got, fmt.Sprintf("%s %s %d", c.Type, word, c.ObservedGeneration))
			}
			expect(t, "conditions", tc.want, got)
		})
	}
}

// docs/spec/differences.md B16: clusters that the former spec would lose as well are held, and those that leave because of the changed spec are not.
func TestRemovalsByAChangedSpec(t *testing.T) {
	placement, existing := tenDecided()
	placement.Spec.NumberOfClusters = ptr.To[int32](2)
	placement.Status.Conditions[1].ObservedGeneration = placement.Generation - 1
	former := api.V1beta1.Read(placementOf(clusterv1beta1.PlacementSpec{})).Request(selector.NewCompiler())
	for _, tc := range []struct {
		reason   string
		before   *scheduling.Request
		clusters []string
		held     bool
	}{
		{"the former spec is not known, and clusters are gone", nil, fleet(2), false},
		{"the former spec loses the clusters that are gone, too", former, fleet(2), true},
		{"the former spec keeps all clusters", former, fleet(10), false},
	} {
		existing.Placement, existing.Before = api.V1beta1.Read(placement), tc.before
		result := resultOf(placement, stateOf(tc.clusters...))
		expect(t, tc.reason+": held", tc.held, evaluate(result, existing, thirty, now.Time).BudgetResult.Held)
	}
}

// An observer of a hub reports that a result depends on an option of the hub that it does not know.
func TestUnknownLimits(t *testing.T) {
	replaced := append(fleet(5), "d-1", "d-2", "d-3", "d-4", "d-5")
	for _, tc := range []struct {
		reason   string
		options  Options
		selected []string
		stated   bool
		want     bool
	}{
		{"held whether or not replaced clusters count", thirty, fleet(2), false, false},
		{"held only if replaced clusters count", thirty, replaced, false, true},
		{"replaced clusters do not count", Options{Limit: removalbudget.Limit{Percent: new(30), CountReplaced: new(false)}}, replaced, false, false},
		{"a condition that does not state the limit", Options{}, fleet(10), true, true},
		{"no condition", Options{}, fleet(10), false, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement, existing := tenDecided()
			placement.Spec.NumberOfClusters = ptr.To[int32](10)
			if tc.stated {
				placement.Status.Conditions = append(placement.Status.Conditions, metav1.Condition{Type: removalbudget.Condition})
				existing.Placement = api.V1beta1.Read(placement)
			}
			evaluation := evaluate(selecting(placement, tc.selected...), existing, tc.options, now.Time)
			expect(t, "unknown", tc.want, evaluation.LimitUnknown)
		})
	}
}

// A cluster that stays although it should leave keeps its group, whatever its labels are, while others join.
func TestKeptClustersKeepTheirGroups(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromString("100%"), "canary")})
	existing := existingOf(placement, page(1, 0, "canary", "canary-1", "gone-1"), page(2, 1, "", "c-1", "canary-9"))
	world := stateOf("canary-1", "c-1", "c-2")
	tainted := clusterOf("canary-9")
	tainted.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}
	world.SetCluster(tainted)

	held := resultOf(placement, world).Hold(existing.Incumbents(), []string{"canary-9", "gone-1"}, time.Time{})
	expect(t, "steps", []string{`fill p-decision-2 group 1 "": c-1 c-2 canary-9`}, steps(planOf(held, existing)))
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
		{"a full one, of which a cluster is gone", left(time.Minute, `"c-004"`), []string{"c-002", "gone"}, nil, []string{"c-001", "c-002"}},
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
