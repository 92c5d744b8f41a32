// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// taintAll gives clusters NoSelect taints, from the first number to the one before last.
func (fx *fixture) taintAll(first, last int, keys ...string) {
	for i := first; i < last; i++ {
		fx.taint(i, keys...)
	}
}

// names returns the names of clusters, from the first number to the one before last.
func names(first, last int) []string {
	list := []string{}
	for i := first; i < last; i++ {
		list = append(list, name(i))
	}
	return list
}

// docs/spec/differences.md B16: a hold that began before an edit ends as it would have ended without the edit. Each case loses 8 of 10 clusters,
// edits the spec, and then something happens.
func TestB16AHoldEndsAsWithoutTheEdit(t *testing.T) {
	const maintenance = "maintenance"
	two := func(spec *clusterv1beta1.PlacementSpec) { spec.NumberOfClusters = new(int32(2)) }
	tainted := func(w *fixture) { w.taintAll(0, 8, maintenance) }
	deleted := func(w *fixture) { w.remove(0, 8) }
	for _, tc := range []struct {
		reason  string
		percent int
		lose    func(*fixture)
		edit    func(*clusterv1beta1.PlacementSpec)
		happen  func(*fixture)
		// want are the decisions afterwards, and restarted those after a restart if they are others: the sets may have been bound before.
		want, restarted []string
		// later are the decisions when the hold of a lost scope is over.
		later []string
	}{
		{
			reason: "nothing", percent: 50, lose: tainted, edit: two, happen: func(*fixture) {},
			want: names(0, 10), later: names(0, 10),
		},
		{
			reason: "the set is unbound", percent: 50, lose: tainted, edit: two,
			happen: func(w *fixture) { w.DeleteBinding("ns", "all") }, want: names(0, 10), later: []string{},
		},
		{
			reason: "the set is unbound, and the Placement permits no removal on a hub that permits all", percent: removalbudget.NoLimit,
			lose: func(w *fixture) { w.placement.Annotations[removalbudget.PercentAnnotation] = "0"; tainted(w) }, edit: two,
			happen: func(w *fixture) { w.DeleteBinding("ns", "all") }, want: []string{}, later: []string{},
		},
		{
			reason: "the new spec asks for a set that is not bound", percent: 50, lose: tainted,
			edit:   func(spec *clusterv1beta1.PlacementSpec) { spec.ClusterSets = []string{"none"} },
			happen: func(*fixture) {}, want: names(0, 8), restarted: names(0, 10), later: names(0, 8),
		},
		{
			reason: "they drain", percent: 50, lose: tainted, edit: two,
			happen: func(w *fixture) { w.taintAll(0, 8, maintenance, openmcpv1alpha1.TerminatingTaint) },
			want:   names(8, 10), later: names(8, 10),
		},
		{
			reason: "the taints are removed", percent: 50, lose: tainted, edit: two,
			happen: func(w *fixture) { w.relabel(0, 8) }, want: []string{name(0), name(1)}, later: []string{name(0), name(1)},
		},
		{
			// Their labels may have changed since the edit, so that the budget counts them.
			reason: "the taints are removed, and the new spec excludes all", percent: 50, lose: tainted, edit: toUS,
			happen: func(w *fixture) { w.relabel(0, 8) }, want: names(0, 8), later: names(0, 8),
		},
		{
			reason: "so many taints are removed that the budget permits the rest", percent: 50, lose: tainted, edit: two,
			happen: func(w *fixture) { w.relabel(0, 3) }, want: []string{name(0), name(1)}, later: []string{name(0), name(1)},
		},
		{
			reason: "half of them come back without a taint, and the others are deleted", percent: 30, lose: tainted, edit: two,
			happen: func(w *fixture) { w.relabel(0, 4); w.remove(4, 8) },
			want:   slices.Concat(names(0, 2), names(4, 8)), later: slices.Concat(names(0, 2), names(4, 8)),
		},
		{
			reason: "deleted clusters come back", percent: 50, lose: deleted, edit: two,
			happen: func(w *fixture) { w.relabel(0, 8) }, want: []string{name(0), name(1)}, later: []string{name(0), name(1)},
		},
		{
			reason: "deleted clusters come back, and have no labels yet", percent: 50, lose: deleted, edit: two,
			happen: func(w *fixture) { w.relabel(0, 8, "region", "") }, want: names(0, 10), later: names(0, 10),
		},
		{
			reason: "one deleted cluster and seven tainted ones, all come back", percent: 50,
			lose: func(w *fixture) { w.taintAll(0, 7, maintenance); w.remove(7, 8) }, edit: two,
			happen: func(w *fixture) { w.relabel(0, 8) }, want: []string{name(0), name(1)}, later: []string{name(0), name(1)},
		},
		{
			reason: "labels were changed, and the former spec is not known any more", percent: 50,
			lose: func(w *fixture) { w.relabel(0, 8, "region", "us") }, edit: two,
			happen: func(w *fixture) { w.relabel(0, 8, "region", "asia") }, want: names(0, 10), later: names(0, 10),
		},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(tc.reason, func(t *testing.T) {
				w := newFixture(10)
				tc.lose(w)
				w.settle(tc.percent)
				expect(t, "held before the edit", names(0, 10), sorted(w.decisions))
				w.edit(tc.edit)
				if restart {
					w.former = nil
				}
				if restart && tc.restarted != nil {
					tc.want = tc.restarted
				}
				w.settle(tc.percent)
				expect(t, "held after the edit", names(0, 8), slices.DeleteFunc(sorted(w.decisions), func(n string) bool { return n >= name(8) }))
				tc.happen(w)
				w.settle(tc.percent)
				w.settle(tc.percent)
				expect(t, "afterwards", tc.want, sorted(w.decisions))
				w.now = w.now.Add(removalbudget.DefaultLostScopeHold)
				w.settle(tc.percent)
				expect(t, "after the hold of a lost scope", tc.later, sorted(w.decisions))
			})
		}
	}
}

// docs/spec/differences.md B17 and B16: the last cluster, which is unreachable and which an edit excludes, leaves when it is available again, or when
// it gets a fault that the hub carries out.
func TestB17TheHoldOfTheLastClusterEndsAfterAnEdit(t *testing.T) {
	const unreachable = clusterv1.ManagedClusterTaintUnreachable
	for reason, tc := range map[string]struct {
		happen func(*fixture)
		stays  bool
	}{
		"it stays unreachable":   {happen: func(*fixture) {}, stays: true},
		"it reports unavailable": {happen: func(w *fixture) { w.taint(0, clusterv1.ManagedClusterTaintUnavailable) }, stays: true},
		"it is available again":  {happen: func(w *fixture) { w.relabel(0, 1) }},
		"an admin's taint":       {happen: func(w *fixture) { w.taint(0, unreachable, "maintenance") }},
		"it drains":              {happen: func(w *fixture) { w.taint(0, unreachable, openmcpv1alpha1.TerminatingTaint) }},
		"it is deleted":          {happen: func(w *fixture) { w.remove(0, 1) }},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newFixture(1)
			w.taint(0, unreachable)
			w.settle(50)
			w.edit(toUS)
			w.settle(50)
			expect(t, "after the edit", names(0, 1), sorted(w.decisions))
			tc.happen(w)
			w.settle(50)
			expect(t, "afterwards", tc.stays, w.decisions[name(0)])
		})
	}
}

// docs/spec/differences.md B16, B17 and G5: whatever happens and however often the spec and the annotations change, no cluster that drains is
// held. Clusters that have left the scope stay for the hold of the hub at most, and not at all without a limit of the hub. A last cluster that is
// held for its availability is away.
func TestNoEditProlongsAHold(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := newFixture(rapid.IntRange(1, 12).Draw(t, "clusters"))
		percent := rapid.SampledFrom([]int{0, 10, 50, removalbudget.NoLimit}).Draw(t, "percent")
		unbound := time.Time{}
		for range rapid.IntRange(2, 12).Draw(t, "events") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				w.edit(patched(t, rapid.SampledFrom(slices.Concat(spellings, otherSpecs)).Draw(t, "edit")))
				if rapid.Bool().Draw(t, "restarted") {
					w.former = nil
				}
			case 1:
				w.placement.Annotations[removalbudget.PercentAnnotation] = rapid.SampledFrom([]string{"0", "30", "100", "?"}).Draw(t, "annotation")
			default:
				w.disturb(t, drain)
			}
			w.settle(percent)
			w.SetCluster(cluster(99)) // It is in the set while that is bound.
			switch {
			case len(w.result().Unbound([]string{name(99)})) == 0:
				unbound = time.Time{}
			case unbound.IsZero():
				unbound = w.now
			}
			w.DeleteCluster(name(99))
			w.wantNoProlongedHold(t, percent, unbound)
		}
	})
}

// wantNoProlongedHold checks what is held, where the set has been unbound since a time; zero if it is bound.
func (fx *fixture) wantNoProlongedHold(t *rapid.T, percent int, unbound time.Time) {
	held, result := fx.judge(percent), fx.result()
	if !held.Held {
		return
	}
	for _, c := range held.Leaving {
		release := held.Hold(c).Release
		info := result.Cluster(c)
		switch {
		case strings.HasPrefix(release, "stays while"): // Hard constraints need it.
		case removalbudget.Drains(info):
			t.Fatalf("%s drains, and %s", c, release)
		case strings.Contains(release, "available again") && (info == nil || len(info.Taints) == 0):
			t.Fatalf("%s is not away, and %s", c, release)
		}
	}
	if unbound.IsZero() {
		return
	}
	lost := slices.DeleteFunc(result.OutOfScope(held.Leaving), func(c string) bool { return strings.HasPrefix(held.Hold(c).Release, "stays while") })
	over := percent == removalbudget.NoLimit || !fx.now.Before(unbound.Add(removalbudget.DefaultLostScopeHold+time.Second))
	if len(lost) > 0 && over {
		t.Fatalf("%v have left the scope at %v, and are held at %v with %d %%: %v", lost, unbound, fx.now, percent, held.Hold(lost[0]))
	}
}

// docs/spec/differences.md B16: what leaves beside clusters that are held since before an edit does not make their removal smaller, also where the
// former spec is not known.
func TestB16OtherLossesDoNotShrinkAnEarlierHold(t *testing.T) {
	w := newFixture(20)
	w.relabel(0, 4, "region", "us")
	w.taintAll(4, 8, "maintenance")
	w.settle(35)
	expect(t, "held before the edit", names(0, 20), sorted(w.decisions))
	w.edit(func(spec *clusterv1beta1.PlacementSpec) { spec.NumberOfClusters = new(int32(12)) })
	w.former = nil
	w.taintAll(8, 10, "maintenance")
	for range 3 {
		w.settle(35)
	}
	expect(t, "held after the edit", slices.Concat(names(0, 8), names(10, 20)), sorted(w.decisions))
	w.now = w.now.Add(2 * removalbudget.Window)
	w.settle(35)
	expect(t, "held after the window", slices.Concat(names(0, 8), names(10, 20)), sorted(w.decisions))
}

// docs/spec/differences.md B16: when the hold of a lost scope is over, the clusters that are held for another cause of the same removal are as many
// fewer, of as many fewer.
func TestB16TheEndOfALostScopeCountsForTheOthers(t *testing.T) {
	w := newFixture(16)
	w.settle(40)
	w.taintAll(0, 4, "maintenance")
	w.selectZones(names(4, 8))
	w.settle(40)
	expect(t, "held", "8 of 16: "+strings.Join(names(0, 8), " "), gone(w.judge(40)))
	w.edit(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
			{Key: "zone", Operator: metav1.LabelSelectorOpNotIn, Values: names(15, 16)},
		}
	})
	w.settle(40)
	expect(t, "held after the edit", "8 of 16: "+strings.Join(names(0, 8), " "), gone(w.judge(40)))
	w.now = w.now.Add(removalbudget.DefaultLostScopeHold)
	for range 2 {
		w.settle(40)
		expect(t, "held for the taint", "8 of 16: "+strings.Join(names(0, 4), " "), gone(w.judge(40)))
	}
	w.now = w.now.Add(removalbudget.Window + time.Second)
	w.settle(40)
	expect(t, "after the window, 4 of 12", names(8, 15), sorted(w.decisions))
}

// selectZones leaves clusters out of the set by their zones.
func (fx *fixture) selectZones(without []string) {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "zone", Operator: metav1.LabelSelectorOpNotIn, Values: without},
		}},
	}
	fx.SetClusterSet(set)
}

// docs/spec/differences.md G5: a write that fails when the hold of a lost scope is over does not begin another one.
func TestAFailedWriteProlongsNoHoldOfALostScope(t *testing.T) {
	w := newFixture(10)
	w.settle(50)
	w.DeleteBinding("ns", "all")
	w.settle(50)
	w.now = w.now.Add(removalbudget.DefaultLostScopeHold)
	for range 3 {
		ruling := w.judge(50)
		expect(t, "held", false, ruling.Held)
		w.reserve(ruling)
		w.record(ruling.Record(removalbudget.Progress{})...)
		w.hold(ruling)
	}
}

// docs/spec/differences.md B19: clusters that joined long ago while others are held are protected like those.
func TestB19WhoJoinedLongAgoBesideAHoldIsHeld(t *testing.T) {
	w := newFixture(10)
	w.settle(50)
	w.relabel(0, 6, "region", "us")
	w.settle(50)
	w.relabel(10, 20)
	w.settle(50)
	w.now = w.now.Add(72 * time.Hour)
	w.settle(50)
	expect(t, "held", "6 of 10: "+strings.Join(names(0, 6), " "), gone(w.judge(50)))
	w.relabel(10, 20, "region", "us")
	for range 3 {
		w.settle(50)
		expect(t, "held with those that have joined", "16 of 20: "+strings.Join(slices.Concat(names(0, 6), names(10, 20)), " "), gone(w.judge(50)))
	}
}
