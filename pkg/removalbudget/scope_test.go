// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// docs/spec/trust.md T17: one cluster may always leave within the window, one that drains does not count, and the next ones are held.
func TestOneClusterMayAlwaysLeave(t *testing.T) {
	single := newFixture(1)
	single.remove(0, 1)
	expect(t, "the last cluster", "", gone(single.step(50)))
	expect(t, "decisions", 0, len(single.decisions))
	w := newFixture(3)
	w.remove(0, 1)
	expect(t, "the first cluster", "", gone(w.step(30)))

	draining := cluster(1, "region", "us")
	draining.Spec.Taints = []clusterv1.Taint{{Key: openmcpv1alpha1.TerminatingTaint, Effect: clusterv1.TaintEffectNoSelect}}
	w.SetCluster(draining)
	expect(t, "a cluster that drains", "", gone(w.step(30)))
	expect(t, "decisions after it", []string{name(2)}, sorted(w.decisions))

	w.remove(2, 3)
	expect(t, "another one", "2 of 2: c02", gone(w.step(30)))
	none := newFixture(1)
	none.remove(0, 1)
	expect(t, "none may leave", "1 of 1: c00", gone(none.step(0)))
}

// docs/spec/trust.md T10: the limit of the hub alone holds clusters that have left the scope, and not for longer than the hold; annotations of
// tenants change neither.
func TestLostScopeIsHeldByTheHubAlone(t *testing.T) {
	for reason, annotations := range map[string]map[string]string{
		"no annotation": {}, "none may leave": {removalbudget.PercentAnnotation: "0"}, "no limit": {removalbudget.PercentAnnotation: "100"},
		"released": {removalbudget.ReleaseAnnotation: "7"}, "unreadable": {removalbudget.PercentAnnotation: "many"},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newFixture(4)
			w.placement.Annotations = annotations
			w.settle(50)
			w.DeleteBinding("ns", "all")
			w.settle(50)
			expect(t, "held at first", 4, len(w.decisions))
			w.now = start.Add(9 * time.Minute)
			w.settle(50)
			expect(t, "held later", 4, len(w.decisions))

			w.now = start.Add(removalbudget.DefaultLostScopeHold)
			w.settle(50)
			expect(t, "after the hold", 0, len(w.decisions))
		})
	}

	off := newFixture(4)
	off.placement.Annotations[removalbudget.PercentAnnotation] = "0"
	off.DeleteBinding("ns", "all")
	off.settle(removalbudget.NoLimit)
	expect(t, "a hub without a limit", 0, len(off.decisions))
}

// docs/spec/differences.md B12: clusters that join while a removal is held do not release it.
func TestJoiningClustersDoNotReleaseARemoval(t *testing.T) {
	w := newFixture(4)
	w.remove(0, 3)
	w.settle(50)
	w.relabel(10, 20)
	w.settle(50)
	expect(t, "decisions", 14, len(w.decisions))
	w.settle(50)
	expect(t, "held", "3 of 4: c00 c01 c02", gone(w.judge(50)))
}

// A Placement without a limit loses clusters in scope also while the limit of the hub holds others, and when more leave than there were when that
// began.
func TestNoLimitHoldsNothingInScope(t *testing.T) {
	w := newFixture(0)
	w.placement.Annotations[removalbudget.PercentAnnotation] = "100"
	w.DeleteBinding("ns", "all")
	for _, name := range []string{"a", "b"} {
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
		set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"set": name}},
		}
		w.SetClusterSet(set)
		w.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}

	w.relabel(0, 4, "set", "a")
	w.settle(50)
	expect(t, "decisions", 4, len(w.decisions))

	w.DeleteBinding("ns", "a")
	w.settle(50)
	expect(t, "out of scope", "4 of 4: c00 c01 c02 c03", gone(w.judge(50)))

	w.relabel(10, 20, "set", "b")
	w.settle(50)
	expect(t, "decisions with those that join", 14, len(w.decisions))

	w.relabel(10, 16, "set", "b", "region", "us")
	w.settle(50)
	expect(t, "decisions without those that do not match", 8, len(w.decisions))
}

// Clusters that have left the scope are looked at when a removal expires that makes place for them, before their own time.
func TestAPlaceForClustersOutOfScope(t *testing.T) {
	w := newFixture(10)
	w.placement.Annotations[removalbudget.PercentAnnotation] = "100" // The limit of the hub alone counts.
	w.remove(0, 2)
	w.settle(30)
	w.now = start.Add(removalbudget.Window - time.Minute)
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "zone", Operator: metav1.LabelSelectorOpNotIn, Values: []string{name(2), name(3)}},
		}},
	}
	w.SetClusterSet(set)

	ruling := w.step(30)
	expect(t, "held", []string{name(2), name(3)}, ruling.Leaving)
	expect(t, "looked at", start.Add(removalbudget.Window), ruling.RequeueAt.UTC())
}

// What the hub says of a cluster that is held.
func TestWhyAClusterIsHeld(t *testing.T) {
	const others = "stays while the removal budget holds other clusters"
	w := newFixture(4)
	w.relabel(0, 3, "region", "us")
	ruling := w.judge(30)
	expect(t, "the budget", "stays until the removal budget permits its removal, or generation 7 is released", ruling.Hold(name(0)).Release)
	expect(t, "another cluster", others, ruling.Hold(name(3)).Release)

	w = newFixture(4)
	w.DeleteBinding("ns", "all")
	until := start.Add(removalbudget.DefaultLostScopeHold)
	expect(t, "the scope", removalbudget.Hold{
		Until: until, Release: "leaves at " + until.Format(time.RFC3339) + " unless a bound set has it again",
	}, w.judge(30).Hold(name(0)))

	w = newFixture(1)
	w.taint(0, clusterv1.ManagedClusterTaintUnreachable)
	expect(t, "the last cluster", "stays until it is available again, another cluster can replace it, or generation 7 is released",
		w.judge(30).Hold(name(0)).Release)
}
