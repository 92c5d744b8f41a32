// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// subscribers returns placements that read everything that is derived: a view, a cached verdict of CEL, single clauses, taints, and the
// counts of decisions.
func subscribers() []*clusterv1beta1.Placement {
	named := func(name string, spec clusterv1beta1.PlacementSpec) *clusterv1beta1.Placement {
		return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: spec}
	}
	by := func(required clusterv1beta1.ClusterSelector) clusterv1beta1.PlacementSpec {
		return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: required}}}
	}
	return []*clusterv1beta1.Placement{
		named("label", by(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}})),
		named("cel", by(clusterv1beta1.ClusterSelector{CelSelector: clusterv1beta1.ClusterCelSelector{
			CelExpressions: []string{`managedCluster.metadata.labels["region"] == "eu"`},
		}})),
		named("unsatisfied", by(clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{
			MatchLabels:      map[string]string{"zone": "x"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"us"}}},
		}})),
		named("balanced", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)}),
	}
}

// differences returns the differences between the indexed scheduler and the reference, by placement.
func differences(i *inventory.Inventory) map[string]string {
	found := map[string]string{}
	for _, placement := range subscribers() {
		request := api.V1beta1.Read(placement).Request(selector.NewCompiler())
		snapshot := i.SnapshotFor(request.Key)
		now := time.Unix(0, 0)
		result := scheduling.Schedule(request, snapshot, nil, now)
		if different := scheduling.Difference(result, scheduling.Reference(request, snapshot, nil, now)); different != "" {
			found[placement.Name] = different
		}
		i.UpdateDependencies(request.Key, result.Dependencies())
	}

	return found
}

// TestRebuildRepairsDamage checks that the comparison with the reference finds every damage of derived data, and that Rebuild repairs it
// (docs/architecture.md law 8).
func TestRebuildRepairsDamage(t *testing.T) {
	for what := range inventory.Corrupted {
		t.Run(what, func(t *testing.T) {
			i := smallHub()
			if found := differences(i); len(found) > 0 {
				t.Fatalf("the engines differ before anything was damaged: %v", found)
			}
			cluster := "eu"
			if what == "the clusters with taints" {
				cluster = "tainted" // To check a cluster without taints for taints does no harm.
			}
			i.Corrupt(what, cluster)

			if found := differences(i); len(found) == 0 {
				t.Errorf("nobody notices that %s are wrong", what)
			}
			i.Rebuild()
			if found := differences(i); len(found) > 0 {
				t.Errorf("rebuilt, the engines still differ: %v", found)
			}
		})
	}
}

func smallHub() *inventory.Inventory {
	i := inventory.New(selector.NewCompiler())
	i.SetClusterSet(&clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
		}},
	})
	i.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "all"}})

	for _, name := range []string{"eu", "tainted", "us"} {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"region": name}}}
		if name == "tainted" {
			cluster.Labels["region"] = "eu"
			cluster.Spec.Taints = []clusterv1.Taint{{Key: "out", Effect: clusterv1.TaintEffectNoSelect}}
		}
		i.SetCluster(cluster)
	}
	owner := inventory.NewPlacementKey(inventory.V1beta1, "other", "p")
	i.SetDecision(inventory.Page{Key: owner.Decision("d"), Owner: owner, Clusters: []string{"us", "eu"}})

	for _, placement := range subscribers() {
		request := api.V1beta1.Read(placement).Request(selector.NewCompiler())
		i.Subscribe(request.Key, request.Dependencies())
	}
	return i
}
