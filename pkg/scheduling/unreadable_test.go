// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// spoilt returns an object as package decoding returns it when a field cannot be decoded.
func spoilt[T metav1.Object](t rapid.TB, object T, path string) T {
	t.Helper()
	if err := unreadable.Mark(object, unreadable.Fields{{Path: path, Value: `"x"`, Problem: "is wrong"}}); err != nil {
		t.Fatal(err)
	}
	return object
}

// sized returns a cluster with an amount of CPU.
func sized(name, cpu string) *clusterv1.ManagedCluster {
	cluster := named(name, "region", "eu")
	cluster.Status.Allocatable = clusterv1.ResourceList{"cpu": resource.MustParse(cpu)}
	cluster.Status.Capacity = clusterv1.ResourceList{"cpu": resource.MustParse("100")}
	return cluster
}

func TestUnreadableClusters(t *testing.T) {
	const bad = "status.allocatable.cpu"

	one := placementSpec{NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: exact(builtIn(ResourceAllocatableCPU, 1))}
	byCPU := placementSpec{Predicates: anyOf{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{
			`quantity(managedCluster.status.allocatable["cpu"]).isGreaterThan(quantity("1"))`,
		}},
	}}}}
	byName := placementSpec{Predicates: anyOf{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{`managedCluster.metadata.name == "c1"`}},
	}}}}
	timed := placementSpec{Tolerations: tolerating{{
		Key: "gpu", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To[int64](60),
	}}}

	gpu := func(added time.Time, cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
		cluster.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: noSelect, TimeAdded: metav1.NewTime(added)}}
		return cluster
	}
	relabelled := sized("c2", "0")
	relabelled.Labels["region"] = "us"
	for _, tc := range []struct {
		reason     string
		spec       placementSpec
		c2         *clusterv1.ManagedCluster
		incumbents []string
		want       []string
	}{
		{"one that is not selected is not selected anew", placementSpec{}, spoilt(t, named("c2"), bad), nil, []string{"c1"}},
		{"one that is selected stays", placementSpec{}, spoilt(t, named("c2"), bad), []string{"c2"}, []string{"c1", "c2"}},
		{"one that is selected stays before better ones", one, spoilt(t, named("c2"), bad), []string{"c2"}, []string{"c2"}},
		{"one that is not selected is no better than others", one, spoilt(t, sized("c2", "90"), bad), []string{"c1"}, []string{"c1"}},
		{"CEL takes nothing away", byCPU, spoilt(t, named("c2", "region", "eu"), bad), []string{"c1", "c2"}, []string{"c1", "c2"}},
		{"CEL that does not read the field does", byName, spoilt(t, named("c2", "region", "eu"), bad), []string{"c1", "c2"}, []string{"c1"}},
		{"a label does, beside CEL", byCPU, spoilt(t, relabelled, bad), []string{"c1", "c2"}, []string{"c1"}},
		{"a taint does", placementSpec{}, spoilt(t, gpu(now, named("c2")), bad), []string{"c1", "c2"}, []string{"c1"}},
		{
			"a toleration goes on when nobody knows since when", timed, spoilt(t, gpu(time.Time{}, named("c2")), "spec.taints[0].timeAdded"),
			[]string{"c1", "c2"}, []string{"c1", "c2"},
		},
		{
			"and ends by the times that are known", timed, spoilt(t, gpu(now.Add(-time.Hour), named("c2")), "spec.taints[1].timeAdded"),
			[]string{"c1", "c2"}, []string{"c1"},
		},
		{"deletion does", placementSpec{}, spoilt(t, terminating(named("c2")), bad), []string{"c1", "c2"}, []string{"c1"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(sized("c1", "50"), tc.c2)
			for _, name := range tc.incumbents {
				w.incumbents[name] = true
			}
			result := w.schedule(t, tc.spec)
			got := selected(result)
			slices.Sort(got)
			expect(t, "selected", tc.want, got)

			if told := result.Unreadable(); len(told) != 1 || !strings.HasPrefix(told[0], "ManagedCluster c2 cannot be read as a whole: ") {
				t.Errorf("told is %q", told)
			}
		})
	}
}

// TestReasonsOfUnreadableClusters checks that reasons name the cluster that precedes others because a field of it cannot be decoded.
func TestReasonsOfUnreadableClusters(t *testing.T) {
	w := newRandomHub(sized("c1", "50"), spoilt(t, named("c2"), "status.allocatable.cpu"))
	w.incumbents["c2"] = true
	result := w.schedule(t, placementSpec{
		NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: exact(builtIn(ResourceAllocatableCPU, 1)),
	})
	expect(t, "c1", "rank 2 of 2, 1 wanted, c2 is kept because something of it cannot be read", result.ReasonOf("c1"))
	expect(t, "c2", "score 0, rank 1 of 2, kept because something of it cannot be read", result.ReasonOf("c2"))
}

// TestUnreadableClustersOutOfScope checks that the warnings of a Placement name only clusters in scope.
func TestUnreadableClustersOutOfScope(t *testing.T) {
	w := newRandomHub(spoilt(t, named("c1"), "status.allocatable.cpu"))
	w.inventory.DeleteBinding("ns", "all")
	expect(t, "told", 0, len(w.schedule(t, placementSpec{}).Unreadable()))
}

func TestUnreadableScores(t *testing.T) {
	best := placementSpec{NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: exact(addOn("load", "x", 1))}
	item := func(value int32) clusterv1alpha1.AddOnPlacementScoreItem {
		return clusterv1alpha1.AddOnPlacementScoreItem{Name: "x", Value: value}
	}

	for _, tc := range []struct {
		reason, incumbent, want string
	}{
		{"they count as absent for a cluster that is not selected", "c1", "c1"},
		{"and for nobody when nothing is selected", "", "c1"},
		{"they take no cluster away", "c2", "c2"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c1"), named("c2"))
			w.inventory.SetScores(scoreOf("c1", "load", nil, item(1)))
			w.inventory.SetScores(spoilt(t, scoreOf("c2", "load", nil, item(50)), "status.validUntil"))
			if tc.incumbent != "" {
				w.incumbents[tc.incumbent] = true
			}
			result := w.schedule(t, best)
			expect(t, "selected", []string{tc.want}, selected(result))
			expect(t, "told", 1, len(result.Unreadable()))
		})
	}
}

// TestUnreadableScoresOfCEL checks that CEL removes a selected cluster unless it reads a score that cannot be decoded.
func TestUnreadableScoresOfCEL(t *testing.T) {
	for _, tc := range []struct {
		reason, reads string
		want          []string
	}{
		{"a score that cannot be decoded takes nothing away", "load", []string{"c2"}},
		{"a score that can be decoded does, beside one that cannot", "other", []string{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c1"), named("c2"))
			w.inventory.SetScores(spoilt(t, scoreOf("c2", "load", nil), "status.validUntil"))
			w.inventory.SetScores(scoreOf("c2", "other", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "x", Value: 1}))
			w.incumbents["c2"] = true
			expression := fmt.Sprintf(`managedCluster.scores(%q).exists(s, s.value > 1)`, tc.reads)
			expect(t, "selected", tc.want, selected(w.schedule(t, placementSpec{Predicates: anyOf{byCEL(expression)}})))
		})
	}
}

// docs/architecture.md law 6: no Placement removes a selected cluster because a field of it cannot be decoded any more.
func TestNothingLeavesForAnUnreadableField(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		clusters := []*clusterv1.ManagedCluster{}
		for _, name := range []string{"c1", "c2", "c3", "c4", "c5"} {
			cluster := drawRichCluster(t, name)
			unreadable.Unmark(cluster)
			clusters = append(clusters, cluster)
		}
		spec := drawRichSpec(t)
		if len(spec.SpreadPolicy.SpreadConstraints) > 1 {
			spec.SpreadPolicy.SpreadConstraints = spec.SpreadPolicy.SpreadConstraints[:1]
		}

		spec.ClusterSets = nil
		request := ConvertV1beta1(compiler, placementOf(spec))
		before := newRandomHub(clusters...)
		incumbents := map[string]bool{}

		// From a clean start, and then as it is when nothing changes.
		for range 2 {
			settled := map[string]bool{}
			for _, f := range same(t, request, before.inventory.Snapshot(), incumbents).Selected {
				settled[f.Name] = true
			}
			incumbents = settled
		}
		settled := same(t, request, before.inventory.Snapshot(), incumbents)
		which := rapid.SampledFrom(clusters).Draw(t, "spoilt").DeepCopy()

		// An answer that changes without a reason, as one that prefers clusters that are not selected, keeps nothing.
		if verdict, known := settled.Verdict(which.Name); !known || verdict.Stage != StageSelected || !incumbents[which.Name] {
			return
		}
		spoil(t, which)
		before.inventory.SetCluster(which)
		after := same(t, request, before.inventory.Snapshot(), incumbents)
		if verdict, _ := after.Verdict(which.Name); verdict.Stage != StageSelected {
			t.Fatalf("%s leaves: %s", which.Name, after.Reason(verdict))
		}
	})
}

// spoil removes a field of a cluster as if it could not be decoded.
func spoil(t *rapid.T, cluster *clusterv1.ManagedCluster) {
	switch pick(t, "field", "allocatable", "capacity", "taint", "condition") {
	case "allocatable":
		delete(cluster.Status.Allocatable, "cpu")
		spoilt(t, cluster, "status.allocatable.cpu")
	case "capacity":
		cluster.Status.Capacity = nil
		spoilt(t, cluster, "status.capacity")
	case "taint":
		if len(cluster.Spec.Taints) > 0 {
			cluster.Spec.Taints[0].TimeAdded = metav1.Time{}
			spoilt(t, cluster, "spec.taints[0].timeAdded")
		}
	default:
		if len(cluster.Status.Conditions) > 0 {
			cluster.Status.Conditions[0].LastTransitionTime = metav1.Time{}
			spoilt(t, cluster, "status.conditions[0].lastTransitionTime")
		}
	}
}
