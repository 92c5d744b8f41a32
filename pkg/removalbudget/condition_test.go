// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const (
	nothingHeld = "RemovalHeld=False (NothingHeld): Of the clusters in the decisions no more than 30 % may leave within 10 minutes for causes " +
		"outside of the placement"
	invalid = "; correct the annotation placement-hub.open-cluster-management.io/max-removal-percent: \"some\" is no whole number from 0 " +
		"to 100"
	release = "These clusters stay in the decisions until that falls below, or this generation is released: " +
		"kubectl annotate --overwrite placements.cluster.open-cluster-management.io p -n ns " +
		"placement-hub.open-cluster-management.io/release-removal=7"
)

func TestWhatTheConditionSays(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		percent int
		happen  func(*fixture)
		want    string
	}{
		{
			reason:  "a hub without a share says nothing",
			percent: removalbudget.NoLimit,
			happen:  func(w *fixture) { w.remove(0, 10) },
		},
		{
			reason:  "nor does a placement that wants none",
			percent: 30,
			happen:  func(w *fixture) { w.placement.Annotations[removalbudget.PercentAnnotation] = "100" },
		},
		{
			reason: "nothing is held", percent: 30, happen: func(*fixture) {}, want: nothingHeld,
		},
		{
			reason:  "how many of how many, the first ones, why, and how to let them go",
			percent: 30,
			happen: func(w *fixture) {
				w.remove(0, 2)
				c := cluster(2)
				c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: start}, []string{"keep"}
				w.SetCluster(c)
				w.relabel(3, 5, "region", "us")
				c = cluster(5)
				c.Spec.Taints = []clusterv1.Taint{{Key: "down", Effect: clusterv1.TaintEffectNoSelect}}
				w.SetCluster(c)
			},
			want: "RemovalHeld=True (TooManyClustersRemoved): The decisions would lose 6 of 10 clusters: c00, c01, c02 and 3 more, where no more " +
				"than 30 % may leave within 10 minutes; causes: deleted (3), predicate 1 label region In [eu] (2), taint down:NoSelect not " +
				"tolerated (1). " + release,
		},
		{
			reason:  "no more than three causes",
			percent: 0,
			happen: func(w *fixture) {
				w.remove(0, 3)
				w.relabel(3, 5, "region", "us")
				for i, key := range []string{"a", "b"} {
					c := cluster(5 + i)
					c.Spec.Taints = []clusterv1.Taint{{Key: key, Effect: clusterv1.TaintEffectNoSelect}}
					w.SetCluster(c)
				}
			},
			want: "RemovalHeld=True (TooManyClustersRemoved): The decisions would lose 7 of 10 clusters: c00, c01, c02 and 4 more, where none may " +
				"leave within 10 minutes; causes: deleted (3), predicate 1 label region In [eu] (2), taint a:NoSelect not tolerated (1), other " +
				"causes (1). " + release,
		},
		{
			reason:  "who has left already is told apart",
			percent: 30,
			happen: func(w *fixture) {
				w.remove(0, 3)
				w.step(30)
				w.DeleteBinding("ns", "all")
				w.decisions = map[string]bool{name(3): true}
			},
			want: "RemovalHeld=True (TooManyClustersRemoved): The decisions would lose 4 of 4 clusters, 3 of which have left already: c03, where " +
				"no more than 30 % may leave within 10 minutes; causes: no cluster set is bound to the namespace (1). Clusters that left the " +
				"scope (1) leave at 2026-01-02T03:14:05Z, whatever the annotations say: bring them back into a bound set to keep them.",
		},
		{
			reason:  "the spec was changed, and all is written",
			percent: 30,
			happen:  func(w *fixture) { w.placement.Generation = 8 },
			want:    nothingHeld,
		},
		{
			reason:  "the spec was changed, and there is no answer to it",
			percent: 30,
			happen: func(w *fixture) {
				w.placement.Generation = 8
				w.placement.Spec.NumberOfClusters = new(int32(-1))
			},
			want: "RemovalHeld=False (SpecChanged): The spec was changed: the clusters that it excludes leave, and of the others no more than 30 % " +
				"may leave within 10 minutes",
		},
		{
			reason:  "what is held stays held while there is no answer",
			percent: 30,
			happen: func(w *fixture) {
				w.condition(removalbudget.ReasonTooManyRemoved, metav1.ConditionTrue, 7)
				w.placement.Spec.NumberOfClusters = new(int32(-1))
			},
			want: "RemovalHeld=True (TooManyClustersRemoved): as it was",
		},
		{
			reason:  "released",
			percent: 30,
			happen:  func(w *fixture) { w.remove(0, 9); w.placement.Annotations[removalbudget.ReleaseAnnotation] = "7" },
			want: "RemovalHeld=False (Released): The annotation placement-hub.open-cluster-management.io/release-removal releases generation 7: " +
				"take it away to have removals held again, where no more than 30 % may leave within 10 minutes",
		},
		{
			reason:  "an annotation that cannot be read, where the hub has a share",
			percent: 30,
			happen:  func(w *fixture) { w.placement.Annotations[removalbudget.PercentAnnotation] = "some" },
			want:    strings.Replace(nothingHeld, "NothingHeld", "InvalidAnnotation", 1) + invalid,
		},
		{
			reason:  "an annotation that cannot be read, where the hub has none: nothing may leave",
			percent: removalbudget.NoLimit,
			happen:  func(w *fixture) { w.remove(0, 1); w.placement.Annotations[removalbudget.PercentAnnotation] = "some" },
			want: "RemovalHeld=True (TooManyClustersRemoved): The decisions would lose 1 of 10 clusters: c00, where none may leave within 10 " +
				"minutes; causes: deleted (1). Its annotations say so: max-removal-percent. " + release + invalid,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newFixture(10)
			tc.happen(w)
			expect(t, "condition", tc.want, conditionText(w.judge(tc.percent)))
		})
	}
}

// While the decisions for a changed spec are not all written, the condition reports that, and the budget does not apply.
func TestTheBudgetCountsFromWhatIsWritten(t *testing.T) {
	w := newFixture(10)
	w.placement.Generation = 8
	ruling := w.judge(30)
	for written, want := range map[bool]bool{false: false, true: true} {
		conditions := ruling.Conditions(written)
		conditions[0].ObservedGeneration = 8
		conditions = append(conditions, metav1.Condition{Type: "PlacementSatisfied", ObservedGeneration: 8})
		w.placement.Status.Conditions = conditions
		armed := removalbudget.NewBudget(api.V1beta1.Read(w.placement).RemovalSubject(), removalbudget.Limit{Percent: new(30)}).SpecApplied
		expect(t, fmt.Sprintf("armed after %v", conditions[0].Reason), want, armed)
	}
}

// A long clause is truncated, so that the message stays readable and contains the release command.
func TestALongClauseIsCut(t *testing.T) {
	w := newFixture(1)
	w.placement.Spec.Predicates[0].RequiredClusterSelector.LabelSelector = metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "region", Operator: metav1.LabelSelectorOpIn, Values: strings.Split(strings.Repeat("value ", 100)+"us", " "),
		}},
	}
	message := conditionText(w.judge(0))
	if len(message) > 700 || !strings.HasSuffix(message, release) {
		t.Errorf("got %d bytes: %s", len(message), message)
	}
}
