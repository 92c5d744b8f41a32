// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// docs/spec/differences.md E2, and docs/architecture.md law 4: changes of the rejections enqueue the Placement only while it is not
// satisfied.
func TestCausesWakeWhileUnsatisfied(t *testing.T) {
	tainted := named("u1", "region", "us")
	tainted.Spec.Taints = []clusterv1.Taint{taint("gpu", "", noSelect)}
	for _, tc := range []struct {
		reason string
		event  func(*inventory.Inventory) inventory.Affected
		wakes  bool
	}{
		{"a cluster fails another clause", func(i *inventory.Inventory) inventory.Affected {
			return i.SetCluster(named("u1", "region", "eu", "tier", "gold"))
		}, true},
		{"a cluster fails the same clause with another value", func(i *inventory.Inventory) inventory.Affected {
			return i.SetCluster(named("u1", "region", "ap"))
		}, false},
		{"a clause behind the one that fails", func(i *inventory.Inventory) inventory.Affected {
			return i.SetCluster(named("u1", "region", "us", "zone", "a"))
		}, false},
		{"a label that no clause reads", func(i *inventory.Inventory) inventory.Affected {
			return i.SetCluster(named("u1", "region", "us", "note", "n"))
		}, false},
		{"a taint of a cluster that does not pass", func(i *inventory.Inventory) inventory.Affected { return i.SetCluster(tainted) }, false},
		{"a cluster comes", func(i *inventory.Inventory) inventory.Affected { return i.SetCluster(named("n1")) }, true},
		{"a cluster goes", func(i *inventory.Inventory) inventory.Affected { return i.DeleteCluster("u1") }, true},
		{"a cluster begins to go", func(i *inventory.Inventory) inventory.Affected {
			return i.SetCluster(terminating(named("u1", "region", "us")))
		}, true},
	} {
		for wanted, satisfied := range map[int32]bool{1: true, 2: false} {
			i := newRandomHub(named("e1", "region", "eu", "zone", "a"), named("u1", "region", "us"), named("u2", "region", "us")).inventory
			request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{
				Predicates: anyOf{byLabel("region", "eu", "zone", "a")}, NumberOfClusters: ptr.To(wanted),
			}))
			i.Subscribe(request.Key, request.Dependencies())
			before := same(t, request, i.SnapshotFor(request.Key), nil)
			i.UpdateDependencies(request.Key, before.Dependencies())
			affected := tc.event(i)
			after := same(t, request, i.SnapshotFor(request.Key), nil)

			expect(t, tc.reason+": satisfied", satisfied, after.Satisfied())
			expect(t, tc.reason+": woken", tc.wakes && !satisfied, slices.Contains(affected.Subscribers, request.Key))
			expect(t, tc.reason+": told otherwise", tc.wakes && !satisfied, writtenParts(before) != writtenParts(after))
		}
	}
}

// docs/spec/differences.md E2: the dependencies of a satisfied result are those of the Request.
func TestDependenciesOfAResult(t *testing.T) {
	w := newRandomHub(named("c1", "region", "eu"), named("c2", "region", "us"))
	eu, three := byLabel("region", "eu"), ptr.To[int32](3)
	two := byLabel("region", "eu", "zone", "a")
	for _, tc := range []struct {
		reason  string
		spec    placementSpec
		tells   bool
		clauses []string
	}{
		{"satisfied", placementSpec{Predicates: anyOf{eu}}, false, nil},
		{"one clause: whether it matches is known", placementSpec{Predicates: anyOf{eu}, NumberOfClusters: three}, true, nil},
		{"several clauses", placementSpec{Predicates: anyOf{eu, two}, NumberOfClusters: three}, true, []string{
			"label region In [eu]", "label zone In [a]",
		}},
		{"a clause before CEL", placementSpec{Predicates: anyOf{require(clusterv1beta1.ClusterSelector{
			LabelSelector: eu.RequiredClusterSelector.LabelSelector, CelSelector: byCEL("true").RequiredClusterSelector.CelSelector,
		})}, NumberOfClusters: three}, true, []string{"label region In [eu]"}},
		{"too many predicates to tell apart", placementSpec{Predicates: anyOf{two, two, two}}, true, nil},
	} {
		interest := w.schedule(t, tc.spec).Dependencies()
		var clauses []string
		for _, clause := range slices.Concat(interest.Clauses...) {
			clauses = append(clauses, clause.String())
		}
		expect(t, tc.reason+": tells", tc.tells, interest.WatchRejected)
		expect(t, tc.reason+": clauses", tc.clauses, clauses)
	}
}

// docs/spec/differences.md E2: a cluster with two taints is rejected by the other taint when the toleration of the first taint ends.
func TestCausesWakeInTime(t *testing.T) {
	cluster := named("c1")
	cluster.Spec.Taints = []clusterv1.Taint{
		{Key: "full", Effect: noSelect, TimeAdded: metav1.NewTime(now)}, {Key: "gpu", Effect: noSelect},
	}
	w := newRandomHub(cluster, named("c2"))
	spec := placementSpec{NumberOfClusters: ptr.To[int32](2), Tolerations: tolerating{
		{Key: "full", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To[int64](10)},
	}}

	unsatisfied := w.schedule(t, spec)
	expect(t, "at first", []string{"1 Taint: taint gpu:NoSelect not tolerated"}, causesOf(unsatisfied))
	expect(t, "wakes", now.Add(10*time.Second), unsatisfied.RequeueAt)
	later := Schedule(unsatisfied.Request, w.inventory.Snapshot(), nil, unsatisfied.RequeueAt)
	expect(t, "then", []string{"1 Taint: taint full:NoSelect not tolerated"}, causesOf(later))
	spec.NumberOfClusters = ptr.To[int32](1)
	expect(t, "a satisfied placement has nothing to wait for", time.Time{}, w.schedule(t, spec).RequeueAt)
}
