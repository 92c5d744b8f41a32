// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Removals that count on a hub with a limit of 30 %. Ten clusters are in the decisions.
func TestBlockedResults(t *testing.T) {
	zones := func(w *fixture) {
		w.placement.Spec.SpreadPolicy = clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
			WhenUnsatisfiable: clusterv1beta1.DoNotSchedule,
		}}}
	}
	for _, tc := range []struct {
		reason string
		happen []func(*fixture)
		held   string
	}{
		{reason: "nothing happened"},
		{
			reason: "as many as the share may go",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 3) }},
		},
		{
			reason: "one more may not",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 4) }},
			held:   "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "all clusters vanish",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 10) }},
			held:   "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "clusters are being deleted",
			happen: []func(*fixture){func(w *fixture) {
				for i := range 4 {
					c := cluster(i)
					c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: start}, []string{"keep"}
					w.SetCluster(c)
				}
			}},
			held: "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "one that drains is none of those that there were",
			happen: []func(*fixture){func(w *fixture) {
				w.remove(0, 3)
				c := cluster(9)
				c.Spec.Taints = []clusterv1.Taint{{Key: openmcpv1alpha1.TerminatingTaint, Effect: clusterv1.TaintEffectNoSelect}}
				w.SetCluster(c)
			}},
			held: "3 of 9: c00 c01 c02",
		},
		{
			reason: "labels change",
			happen: []func(*fixture){func(w *fixture) { w.relabel(0, 4, "region", "us") }},
			held:   "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "taints come",
			happen: []func(*fixture){func(w *fixture) {
				for i := range 4 {
					c := cluster(i)
					c.Spec.Taints = []clusterv1.Taint{{Key: "down", Effect: clusterv1.TaintEffectNoSelect}}
					w.SetCluster(c)
				}
			}},
			held: "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "the binding disappears",
			happen: []func(*fixture){func(w *fixture) { w.DeleteBinding("ns", "all") }},
			held:   "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "the set disappears",
			happen: []func(*fixture){func(w *fixture) { w.DeleteClusterSet("all") }},
			held:   "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "without a number of clusters, others that come take nobody's place",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 4); w.relabel(20, 30) }},
			held:   "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "with a number of clusters they do",
			happen: []func(*fixture){wanted(10), func(w *fixture) { w.remove(0, 4); w.relabel(20, 30) }},
		},
		{
			reason: "where too few come, the rest counts",
			happen: []func(*fixture){wanted(10), func(w *fixture) { w.remove(0, 6); w.relabel(20, 22) }},
			held:   "4 of 10: c02 c03 c04 c05",
		},
		{
			reason: "better clusters take the places of others",
			happen: []func(*fixture){wanted(10), func(w *fixture) {
				w.relabel(20, 40)
				w.placement.Spec.PrioritizerPolicy.Mode = clusterv1beta1.PrioritizerPolicyModeExact
				w.decisions = map[string]bool{}
				for i := range 10 {
					w.decisions[name(30+i)] = true
				}
			}},
		},
		{
			reason: "a number that is not reached is no base: of four that there were one goes",
			happen: []func(*fixture){wanted(10), func(w *fixture) {
				w.remove(0, 7)
				w.decisions = map[string]bool{name(6): true, name(7): true, name(8): true, name(9): true}
			}},
		},
		{
			reason: "on the way to other clusters there are more than are wanted",
			happen: []func(*fixture){wanted(8)},
		},
		{
			reason: "what is left over by a spread constraint counts when nobody comes for it",
			happen: []func(*fixture){zones, func(w *fixture) { w.relabel(0, 9, "zone", "same") }},
			held:   "7 of 10: c02 c03 c04 c05 c06 c07 c08",
		},
		{
			reason: "the own spec may remove what it excludes",
			happen: []func(*fixture){func(w *fixture) { w.edit(toUS) }},
		},
		{
			reason: "also when the former spec is not known",
			happen: []func(*fixture){func(w *fixture) { w.edit(toUS); w.former = nil }},
		},
		{
			reason: "also when the decisions for it were not all written",
			happen: []func(*fixture){func(w *fixture) {
				w.edit(toUS)
				w.condition(removalbudget.ReasonSpecChanged, metav1.ConditionFalse, 7)
			}},
		},
		{
			reason: "a changed spec does not release what leaves for other causes",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 10); w.edit(meaningless) }},
			held:   "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "also when the former spec is not known",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 10); w.edit(meaningless); w.former = nil }},
			held:   "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "what the former spec would have lost stays, and what the new one alone excludes leaves",
			happen: []func(*fixture){func(w *fixture) {
				w.remove(0, 4)
				w.relabel(4, 7, "tier", "b")
				w.edit(func(s *clusterv1beta1.PlacementSpec) {
					s.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
						{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist},
					}
				})
			}},
			held: "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "conditions that do not say which generation they are for are those of the upstream controller",
			happen: []func(*fixture){func(w *fixture) {
				w.remove(0, 10)
				w.placement.Status.Conditions = []metav1.Condition{{Type: "PlacementSatisfied"}}
			}},
			held: "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "a placement of a backup has the first generation and no conditions",
			happen: []func(*fixture){func(w *fixture) {
				w.remove(0, 10)
				w.placement.Generation, w.placement.Status.Conditions = 1, nil
			}},
			held: "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "so does one of a later generation, which the hub does not know",
			happen: []func(*fixture){func(w *fixture) {
				w.remove(0, 10)
				w.placement.Generation, w.placement.Status.Conditions = 2, nil
			}},
			held: "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "an annotation with the generation releases",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 10); w.placement.Annotations[removalbudget.ReleaseAnnotation] = "7" }},
		},
		{
			reason: "one with another generation does not",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 4); w.placement.Annotations[removalbudget.ReleaseAnnotation] = "6" }},
			held:   "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "the placement's own share wins when it is greater",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 4); w.placement.Annotations[removalbudget.PercentAnnotation] = "40" }},
		},
		{
			reason: "and when it is smaller",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 1); w.placement.Annotations[removalbudget.PercentAnnotation] = "0%" }},
			held:   "1 of 10: c00",
		},
		{
			reason: "and when it is no bound",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 10); w.placement.Annotations[removalbudget.PercentAnnotation] = "100" }},
		},
		{
			reason: "one that cannot be read leaves the hub's",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 4); w.placement.Annotations[removalbudget.PercentAnnotation] = "101" }},
			held:   "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "a question with a mistake has no answer to hold",
			happen: []func(*fixture){func(w *fixture) { w.remove(0, 10); w.placement.Spec.NumberOfClusters = new(int32(-1)) }},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newFixture(10)
			for _, happen := range tc.happen {
				happen(w)
			}
			expect(t, "held", tc.held, gone(w.judge(30)))
		})
	}
}

// Clusters that leave one by one are held like those that leave at once, and those that left early enough do not count any more.
func TestWhatLeavesOneByOne(t *testing.T) {
	w := newFixture(10)
	for i := range 3 {
		w.remove(i, i+1)
		expect(t, "held", "", gone(w.step(30)))
		w.now = w.now.Add(time.Minute)
	}
	w.remove(3, 4)
	ruling := w.step(30)
	expect(t, "held", "4 of 10: c03", gone(ruling))
	expect(t, "have left before", 3, ruling.Count.Past)
	// Two of nine would be few enough, three of nine are too many.
	expect(t, "to be looked at again", start.Add(removalbudget.Window+time.Minute), ruling.RequeueAt)
	w.now = ruling.RequeueAt.Add(-time.Second)
	expect(t, "held until then", "3 of 9: c03", gone(w.step(30)))
	w.now = ruling.RequeueAt
	expect(t, "held from then on", "", gone(w.step(30)))
	expect(t, "decided", []string{"c04", "c05", "c06", "c07", "c08", "c09"}, sorted(w.decisions))
}

// A cluster that came back is no removal, and nothing is held while no cluster leaves.
func TestWhatComesBack(t *testing.T) {
	w := newFixture(10)
	w.relabel(0, 3, "region", "us")
	w.step(30)
	w.relabel(3, 4, "region", "us")
	expect(t, "held", "4 of 10: c03", gone(w.step(30)))

	w.relabel(0, 1)
	expect(t, "held", "", gone(w.step(30)))

	// Now three have left. A smaller share changes nothing that was done.
	expect(t, "held", "", gone(w.step(10)))
	w.relabel(9, 10, "region", "us")
	expect(t, "held", "4 of 10: c09", gone(w.step(10)))
}

// A result that was applied in part counts once, and the clusters that it removed count.
func TestWhatIsWrittenHalf(t *testing.T) {
	w := newFixture(10)
	w.remove(0, 3)
	ruling := w.judge(30)
	expect(t, "held", "", gone(ruling))
	w.reserve(ruling)
	delete(w.decisions, "c00")
	expect(t, "held in the second try", "", gone(w.judge(30)))
	w.remove(3, 4)
	expect(t, "held with one more", "4 of 10: c01 c02 c03", gone(w.judge(30)))
}

// After a release, earlier removals do not count any more; after a change of the spec they do.
func TestTheWindowBeginsAnew(t *testing.T) {
	for reason, change := range map[string]func(*fixture){
		"release": func(w *fixture) { w.placement.Annotations[removalbudget.ReleaseAnnotation] = "7" },
	} {
		t.Run(reason, func(t *testing.T) {
			w := newFixture(10)
			w.remove(0, 3)
			w.step(30)
			change(w)
			w.step(30)
			w.condition(removalbudget.ReasonNothingHeld, metav1.ConditionFalse, w.placement.Generation)
			delete(w.placement.Annotations, removalbudget.ReleaseAnnotation)
			w.remove(3, 5)
			expect(t, "held", "", gone(w.step(30)))
		})
	}

	w := newFixture(10)
	w.remove(0, 3)
	w.settle(30)
	w.edit(meaningless)
	w.settle(30)
	w.remove(3, 5)
	expect(t, "held after a change of the spec", "5 of 10: c03 c04", gone(w.judge(30)))
}

// With a number of clusters a place that is filled later is no loss any more.
func TestAPlaceThatIsFilledAgain(t *testing.T) {
	w := newFixture(10)
	wanted(10)(w)
	for i := range 6 {
		w.remove(3*i, 3*i+3)
		expect(t, "held", "", gone(w.step(30)))
		w.relabel(10+3*i, 13+3*i)
		expect(t, "held", "", gone(w.step(30)))
	}
}

// With a limit for clusters that are replaced too, a cluster counts whose place another one takes.
func TestReplacedClustersCount(t *testing.T) {
	swap := func(many int) func(*fixture) {
		return func(w *fixture) { w.remove(0, many); w.relabel(20, 20+many) }
	}
	for _, tc := range []struct {
		reason string
		happen []func(*fixture)
		held   string
	}{
		{reason: "as many as the share may be replaced", happen: []func(*fixture){wanted(10), swap(3)}},
		{reason: "one more may not", happen: []func(*fixture){wanted(10), swap(4)}, held: "4 of 10: c00 c01 c02 c03"},
		{reason: "all", happen: []func(*fixture){wanted(10), swap(10)}, held: "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09"},
		{
			reason: "by better clusters",
			happen: []func(*fixture){wanted(10), func(w *fixture) {
				w.relabel(20, 40)
				w.placement.Spec.PrioritizerPolicy.Mode = clusterv1beta1.PrioritizerPolicyModeExact
				w.decisions = map[string]bool{}
				for i := range 10 {
					w.decisions[name(30+i)] = true
				}
			}},
			held: "10 of 10: c30 c31 c32 c33 c34 c35 c36 c37 c38 c39",
		},
		{
			reason: "an annotation takes the limit away",
			happen: []func(*fixture){wanted(10), swap(10), func(w *fixture) {
				w.placement.Annotations[removalbudget.CountReplacedAnnotation] = "false"
			}},
		},
		{
			reason: "a mistake in it opens nothing",
			happen: []func(*fixture){wanted(10), swap(4), func(w *fixture) {
				w.placement.Annotations[removalbudget.CountReplacedAnnotation] = "False"
			}},
			held: "4 of 10: c00 c01 c02 c03",
		},
		{
			reason: "also after a change of the spec",
			happen: []func(*fixture){wanted(10), swap(10), func(w *fixture) { w.edit(meaningless) }},
			held:   "10 of 10: c00 c01 c02 c03 c04 c05 c06 c07 c08 c09",
		},
		{
			reason: "by the own spec",
			happen: []func(*fixture){wanted(10), func(w *fixture) { w.relabel(20, 30, "region", "us"); w.edit(toUS) }},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newFixture(10)
			w.countReplaced = true
			for _, happen := range tc.happen {
				happen(w)
			}
			expect(t, "held", tc.held, gone(w.judge(30)))
		})
	}

	w := newFixture(10)
	wanted(10)(w)
	swap(4)(w)
	w.placement.Annotations[removalbudget.CountReplacedAnnotation] = "true"
	expect(t, "held by the annotation alone", "4 of 10: c00 c01 c02 c03", gone(w.judge(30)))
}
