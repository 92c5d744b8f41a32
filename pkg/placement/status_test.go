// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

func labelled(key, value string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
	}}
}

func expressed(expressions ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: expressions},
	}}
}

// brief returns a condition on one line.
func brief(c metav1.Condition) string {
	return fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
}

// docs/spec/upstream-placement.md 1.11: the first test that holds names the reason; docs/spec/differences.md A1, A4 and C2 add what is kept
// and why.
func TestConditions(t *testing.T) {
	const fine = "PlacementMisconfigured=False Succeedconfigured: Placement configurations check pass"
	brokenSet := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "broken"}}
	brokenSet.Spec.ClusterSelector.SelectorType = "None"

	bind := func(i *inventory.Inventory, name string) {
		i.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}
	for _, tc := range []struct {
		reason        string
		spec          clusterv1beta1.PlacementSpec
		change        func(*inventory.Inventory)
		present       pages
		misconfigured string
		satisfied     string
	}{
		{"no valid binding: none", clusterv1beta1.PlacementSpec{}, func(i *inventory.Inventory) { i.DeleteBinding("ns", "all") }, nil, fine,
			"PlacementSatisfied=False NoManagedClusterSetBindings: No valid ManagedClusterSetBindings found in placement namespace"},
		{"no valid binding: the set is missing", clusterv1beta1.PlacementSpec{ClusterSets: []string{"all"}},
			func(i *inventory.Inventory) { i.DeleteClusterSet("all") }, nil, fine,
			"PlacementSatisfied=False NoManagedClusterSetBindings: No valid ManagedClusterSetBindings found in placement namespace"},
		{"no eligible set, in the order of the spec", clusterv1beta1.PlacementSpec{ClusterSets: []string{"b", "a"}}, nil, nil, fine,
			"PlacementSatisfied=False NoIntersection: None of ManagedClusterSets [b,a] is bound to placement namespace"},
		{"no available cluster", clusterv1beta1.PlacementSpec{}, func(i *inventory.Inventory) {
			i.DeleteCluster("c-1")
			i.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c-2", DeletionTimestamp: &now}})
			i.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
			bind(i, "a")
		}, nil, fine, "PlacementSatisfied=False AllManagedClusterSetsEmpty: All ManagedClusterSets [a,all] have no member ManagedCluster; " +
			"0 of 1 clusters in scope selected; not selected: being deleted (1)"},
		{"nothing selected: predicates", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{labelled("a", "b")}}, nil, nil,
			fine,
			"PlacementSatisfied=False NoManagedClusterMatched: No ManagedCluster matches any of the cluster predicate; " +
				"0 of 2 clusters in scope selected; not selected: predicate 1 label a In [b] (2)"},
		{"nothing selected: taints", clusterv1beta1.PlacementSpec{}, func(i *inventory.Inventory) {
			for _, name := range []string{"c-1", "c-2"} {
				i.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1.ManagedClusterSpec{
					Taints: []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}},
				}})
			}
		}, nil, fine, "PlacementSatisfied=False NoManagedClusterMatched: No ManagedCluster matches any of the cluster predicate; " +
			"0 of 2 clusters in scope selected; not selected: taint gpu:NoSelect not tolerated (2)"},
		{"nothing selected: 0 wanted", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(int32(0))}, nil, nil, fine,
			"PlacementSatisfied=False NoManagedClusterMatched: No ManagedCluster matches any of the cluster predicate; " +
				"0 of 2 clusters in scope selected; not selected: not needed, 0 wanted (2)"},
		{"all, no number asked for", clusterv1beta1.PlacementSpec{}, nil, nil, fine,
			"PlacementSatisfied=True AllDecisionsScheduled: All cluster decisions scheduled"},
		{"as many as asked for", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(int32(1))}, nil, nil, fine,
			"PlacementSatisfied=True AllDecisionsScheduled: All cluster decisions scheduled"},
		{"not as many as asked for", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(int32(10))}, nil, nil, fine,
			"PlacementSatisfied=False NotAllDecisionsScheduled: 8 cluster decisions unscheduled; 2 of 2 clusters in scope selected"},
		{"A1: misconfigured and new", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(int32(-1))}, nil, nil,
			"PlacementMisconfigured=True Misconfigured: spec.numberOfClusters: Invalid value: -1: must be 0 or more, or absent for all clusters",
			"PlacementSatisfied=False NoManagedClusterMatched: The placement has no decisions until it is corrected: " +
				"see the condition PlacementMisconfigured"},
		{"A1: misconfigured, with decisions", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To(int32(-1)), Tolerations: []clusterv1beta1.Toleration{{}},
		}, nil, pages{page(1, 0, "", "c-1")},
			"PlacementMisconfigured=True Misconfigured: spec.numberOfClusters: Invalid value: -1: must be 0 or more, or absent for all clusters; " +
				`spec.tolerations[0].operator: Invalid value: "": If the key is empty, operator must be Exists.`,
			"PlacementSatisfied=False NotAllDecisionsScheduled: The placement keeps its last decisions until it is corrected: " +
				"see the condition PlacementMisconfigured"},
		{"A4: a broken set", clusterv1beta1.PlacementSpec{}, func(i *inventory.Inventory) {
			i.SetClusterSet(brokenSet)
			bind(i, "broken")
		}, pages{page(1, 0, "", "c-1")}, fine,
			"PlacementSatisfied=False NotAllDecisionsScheduled: The decisions stay as they are, because the members of a cluster set " +
				"cannot be told: " +
				`ManagedClusterSet broken: spec.clusterSelector.selectorType: Unsupported value: "None": ` +
				`supported values: "ExclusiveClusterSetLabel", "LabelSelector"`},
		{"C2: expressions that fail", clusterv1beta1.PlacementSpec{
			Predicates: []clusterv1beta1.ClusterPredicate{expressed(`managedCluster.spec.nothing == 1`), labelled("prefix", "c")},
		}, nil, nil, fine + "; spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0] could not be evaluated on 2 clusters, " +
			"where it counts as not matching; the first is c-1: no such key: nothing",
			"PlacementSatisfied=True AllDecisionsScheduled: All cluster decisions scheduled"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := stateOf("c-1", "c-2")
			if tc.change != nil {
				tc.change(i)
			}
			placement := placementOf(tc.spec)
			result := resultOf(placement, i)
			status := statusOf(result, planOf(result, existingOf(placement, tc.present...)), placement)
			if len(status.Conditions) != 2 {
				t.Fatalf("got %d conditions, want 2", len(status.Conditions))
			}

			expect(t, "misconfigured", tc.misconfigured, brief(status.Conditions[0]))
			expect(t, "satisfied", tc.satisfied, brief(status.Conditions[1]))
			for _, condition := range status.Conditions {
				expect(t, "observed generation of "+condition.Type, placement.Generation, condition.ObservedGeneration)
				expect(t, "transition time of "+condition.Type, now, condition.LastTransitionTime)
			}
		})
	}
}

// docs/spec/upstream-placement.md 1.11: the time moves only when the status flips. docs/spec/differences.md A5: the order, and the
// conditions of others behind.
func TestTransitions(t *testing.T) {
	before := metav1.NewTime(now.Add(-time.Hour))
	old := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: "Old", Message: "old", LastTransitionTime: before, ObservedGeneration: 3}
	}
	for _, tc := range []struct {
		reason  string
		present []metav1.Condition
		want    []string
	}{
		{"new", nil, []string{"PlacementMisconfigured now 7", "PlacementSatisfied now 7"}},
		{"no flip", []metav1.Condition{old("PlacementMisconfigured", metav1.ConditionFalse), old("PlacementSatisfied", metav1.ConditionTrue)},
			[]string{"PlacementMisconfigured before 7", "PlacementSatisfied before 7"}},
		{"one flips, and the order is put right", []metav1.Condition{
			old("PlacementSatisfied", metav1.ConditionFalse), old("PlacementMisconfigured", metav1.ConditionFalse),
		}, []string{"PlacementMisconfigured before 7", "PlacementSatisfied now 7"}},
		{"those of others stay as they are, behind", []metav1.Condition{
			old("Second", metav1.ConditionTrue), old("PlacementSatisfied", metav1.ConditionTrue), old("First", metav1.ConditionUnknown),
		}, []string{"PlacementMisconfigured now 7", "PlacementSatisfied before 7", "Second before 3", "First before 3"}},
		{"a time that was never written", []metav1.Condition{{Type: "PlacementSatisfied", Status: metav1.ConditionTrue}},
			[]string{"PlacementMisconfigured now 7", "PlacementSatisfied now 7"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(clusterv1beta1.PlacementSpec{})
			placement.Status.Conditions = tc.present
			result := selecting(placement, "c-1")
			status := statusOf(result, planOf(result, existingOf(placement)), placement)
			got := make([]string, 0, len(status.Conditions))
			for _, condition := range status.Conditions {
				word := map[metav1.Time]string{now: "now", before: "before"}[condition.LastTransitionTime]
				got = append(got, fmt.Sprintf("%s %s %d", condition.Type, word, condition.ObservedGeneration))
			}
			expect(t, "conditions", tc.want, got)
		})
	}
}

// docs/spec/differences.md B6: the status of a moment later is the same status.
func TestStatusDoesNotMoveWithTime(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	result := selecting(placement, "c-1", "c-2")
	plan := planOf(result, existingOf(placement))
	put(placement, statusOf(result, plan, placement))
	before := api.V1beta1.Read(placement)
	again := NewStatus(result, plan, before, metav1.NewTime(now.Add(time.Hour)))
	if !sameStatus(api.V1beta1, before.Status, again) {
		t.Errorf("the status moved:\n%v\n%v", placement.Status, again)
	}

	expect(t, "selected", 2, again.Selected)
	expect(t, "groups", []string{`0 "" [p-decision-1] 2`}, reported(again.Groups))
}

// A message is truncated to the maximal length of the API, between two characters.
func TestLongMessages(t *testing.T) {
	for shift := range 3 {
		expression := strings.Repeat("x", shift) + strings.Repeat("€", 20_000)
		placement := placementOf(clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{expressed(expression)}})
		result := selecting(placement, "c-1")
		message := statusOf(result, planOf(result, existingOf(placement)), placement).Conditions[0].Message
		if len(message) > 32768 || len(message) < 32000 || !utf8.ValidString(message) || !strings.HasSuffix(message, "€...") {
			t.Errorf("got %d bytes, valid %v, that end in %q", len(message), utf8.ValidString(message), message[len(message)-6:])
		}
	}
}

// A message of the maximal length of the API is not truncated.
func TestMessagesOfTheMaximalLength(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	result := selecting(placement, "c-1")
	for bytes, want := range map[int]string{32768: "xxxx", 32769: "x..."} {
		further := metav1.Condition{Type: ConditionProfilesFound, Message: strings.Repeat("x", bytes)}
		status := NewStatus(result, Plan{}, api.V1beta1.Read(placement), now, further)
		message := status.Conditions[2].Message
		expect(t, fmt.Sprintf("the length of %d bytes", bytes), 32768, len(message))
		expect(t, fmt.Sprintf("the end of %d bytes", bytes), want, message[len(message)-4:])
	}
}

// docs/spec/differences.md B6: a status that differs in one field is another status.
func TestStatusesDiffer(t *testing.T) {
	later := metav1.NewTime(now.Add(time.Second))
	for _, tc := range []struct {
		reason string
		change func(*api.Status)
		want   bool
	}{
		{"nothing differs", func(*api.Status) {}, true},
		{"the number of clusters", func(s *api.Status) { s.Selected++ }, false},
		{"the time of the scores", func(s *api.Status) { s.LastScoreUpdate = &later }, false},
		{"the message of a condition", func(s *api.Status) { s.Conditions[0].Message = "other" }, false},
		{"the time of a condition", func(s *api.Status) { s.Conditions[0].LastTransitionTime = later }, false},
		{"the name of a group", func(s *api.Status) { s.Groups[0].Name = "canary" }, false},
		{"the number of clusters of a group", func(s *api.Status) { s.Groups[0].Clusters++ }, false},
		{"the pages of a group", func(s *api.Status) { s.Groups[0].Pages = []string{"p-decision-2"} }, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			status := func() api.Status {
				return api.Status{
					Selected: 1, LastScoreUpdate: &now, Groups: []api.GroupStatus{{Pages: []string{"p-decision-1"}, Clusters: 1}},
					Conditions: []metav1.Condition{{Type: ConditionSatisfied, Message: "as it was", LastTransitionTime: now}},
				}
			}
			changed := status()
			tc.change(&changed)
			expect(t, "same", tc.want, sameStatus(api.V1beta1, status(), changed))
		})
	}
}

// docs/spec/differences.md A7: conditions describe only written decisions.
func TestFailedStatus(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Status.LastScoreUpdateTime = &now
	existing := existingOf(placement, page(1, 0, "canary", "c-1"), page(2, 1, "", "c-2", "c-3"))
	status := NewFailedStatus(selecting(placement, "c-7"), existing, "Forbidden", now)

	expect(t, "selected", 3, status.Selected)
	expect(t, "groups", []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}, reported(status.Groups))
	expect(t, "misconfigured", "PlacementMisconfigured=False Succeedconfigured: Placement configurations check pass", brief(status.Conditions[0]))
	expect(t, "satisfied", "PlacementSatisfied=False NotAllDecisionsScheduled: The decisions could not all be written: Forbidden",
		brief(status.Conditions[1]))
	expect(t, "observed generation", placement.Generation, status.Conditions[1].ObservedGeneration)
	expect(t, "the time of the scores", &now, status.LastScoreUpdate)

	leaving := edited(page(3, 1, "", "c-3", "c-4"), func(p *api.Page) { p.DeletionTimestamp = &now })
	existing = existingOf(placement, page(1, 0, "canary", "c-1"), page(2, 1, "", "c-2", "c-3"), leaving)
	status = NewFailedStatus(selecting(placement, "c-7"), existing, "Forbidden", now)
	expect(t, "B22: selected with a terminating page", 4, status.Selected)
	expect(t, "groups with a terminating page", []string{`0 "canary" [p-decision-1] 1`, `1 "" [p-decision-2] 2`}, reported(status.Groups))
}
