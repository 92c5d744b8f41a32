// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"testing"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// taint gives a cluster NoSelect taints.
func (fx *fixture) taint(i int, keys ...string) {
	c := cluster(i)
	for _, key := range keys {
		c.Spec.Taints = append(c.Spec.Taints, clusterv1.Taint{Key: key, Effect: clusterv1.TaintEffectNoSelect})
	}
	fx.SetCluster(c)
}

// docs/spec/differences.md B17: the last cluster does not leave because it cannot be reached, or at once because it has left the scope.
func TestB17TheLastClusterStays(t *testing.T) {
	const unreachable, unavailable = clusterv1.ManagedClusterTaintUnreachable, clusterv1.ManagedClusterTaintUnavailable
	for _, tc := range []struct {
		reason string
		happen func(*fixture)
		held   string
	}{
		{reason: "unreachable", happen: func(w *fixture) { w.taint(0, unreachable) }, held: "1 of 1: c00"},
		{reason: "unavailable", happen: func(w *fixture) { w.taint(0, unavailable) }, held: "1 of 1: c00"},
		{reason: "with a number of clusters", happen: func(w *fixture) { wanted(1)(w); w.taint(0, unreachable) }, held: "1 of 1: c00"},
		{reason: "out of scope", happen: func(w *fixture) { w.DeleteBinding("ns", "all") }, held: "1 of 1: c00"},
		{reason: "another one replaces it", happen: func(w *fixture) { wanted(1)(w); w.taint(0, unreachable); w.relabel(1, 2) }},
		{reason: "an admin's taint", happen: func(w *fixture) { w.taint(0, "maintenance") }},
		{reason: "an admin's taint beside the one of the condition", happen: func(w *fixture) { w.taint(0, unreachable, "maintenance") }},
		{reason: "it drains", happen: func(w *fixture) { w.taint(0, unreachable, openmcpv1alpha1.TerminatingTaint) }},
		{reason: "it is deleted", happen: func(w *fixture) { w.remove(0, 1) }},
		{reason: "its labels change", happen: func(w *fixture) { w.relabel(0, 1, "region", "us") }},
		{reason: "the Placement's own edit", happen: func(w *fixture) { w.edit(toUS) }},
		{reason: "the Placement has no limit", happen: func(w *fixture) {
			w.placement.Annotations[removalbudget.PercentAnnotation] = "100"
			w.taint(0, unreachable)
		}},
		{reason: "released", happen: func(w *fixture) {
			w.placement.Annotations[removalbudget.ReleaseAnnotation] = "7"
			w.taint(0, unreachable)
		}},
		{reason: "as upstream", happen: func(w *fixture) {
			w.lastCluster = new(removalbudget.UpstreamLastCluster)
			w.taint(0, unreachable)
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newFixture(1)
			tc.happen(w)
			expect(t, "held", tc.held, gone(w.judge(50)))
			off := *w
			expect(t, "without a limit of the hub", "", gone(off.judge(removalbudget.NoLimit)))
		})
	}
}

// docs/spec/differences.md B17: of a pair for disaster recovery, of which both are lost, the app is still on the second one when both are back.
func TestB17APairKeepsItsSecondCluster(t *testing.T) {
	w := newFixture(1)
	wanted(1)(w)
	w.relabel(1, 2)
	w.taint(0, clusterv1.ManagedClusterTaintUnreachable)
	w.settle(50)
	expect(t, "decisions when the first is lost", []string{name(1)}, sorted(w.decisions))
	w.taint(1, clusterv1.ManagedClusterTaintUnreachable)
	w.settle(50)
	w.now = w.now.Add(time.Hour)
	w.settle(50)
	expect(t, "decisions when both are lost", []string{name(1)}, sorted(w.decisions))
	expect(t, "condition", "RemovalHeld=True (LastCluster): The decisions would lose 1 of 1 clusters: c01, where no more than 50 % may leave within "+
		"10 minutes; causes: taint cluster.open-cluster-management.io/unreachable:NoSelect not tolerated (1). The last cluster stays in the "+
		"decisions until it is available again, or another one can replace it, or this generation is released: kubectl annotate --overwrite "+
		"placements.cluster.open-cluster-management.io p -n ns placement-hub.open-cluster-management.io/release-removal=7",
		conditionText(w.judge(50)))
	w.relabel(0, 2)
	w.settle(50)
	expect(t, "decisions when both are back", []string{name(1)}, sorted(w.decisions))
}

// docs/spec/differences.md B17: a last cluster that has left the scope leaves after the hold of the hub, whatever the annotations say.
func TestB17LostScopeOfTheLastClusterEnds(t *testing.T) {
	for reason, annotations := range map[string]map[string]string{
		"no annotation": {}, "none may leave": {removalbudget.PercentAnnotation: "0"}, "no limit": {removalbudget.PercentAnnotation: "100"},
		"released": {removalbudget.ReleaseAnnotation: "7"},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newFixture(1)
			w.placement.Annotations = annotations
			w.settle(50)
			w.DeleteBinding("ns", "all")
			w.settle(50)
			w.now = start.Add(removalbudget.DefaultLostScopeHold - time.Second)
			w.settle(50)
			expect(t, "held", 1, len(w.decisions))
			ruling := w.judge(50)
			expect(t, "to be looked at again", start.Add(removalbudget.DefaultLostScopeHold), ruling.RequeueAt.UTC())
			w.now = ruling.RequeueAt
			w.settle(50)
			expect(t, "after the hold", 0, len(w.decisions))
		})
	}
}
