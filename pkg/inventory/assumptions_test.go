// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// docs/spec/differences.md B20: objects count as the controllers of the hub are about to write them.
func TestB20Assumptions(t *testing.T) {
	i := inventory.New(selector.NewCompiler())
	gpu := clusterv1.Taint{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}
	i.SetAssumptions(inventory.Assumptions{
		Cluster: func(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
			if cluster.Labels["gpu"] == "" || len(cluster.Spec.Taints) > 0 {
				return cluster
			}
			changed := cluster.DeepCopy()
			changed.Spec.Taints = []clusterv1.Taint{gpu}
			return changed
		},
		ClusterSet: func(set *clusterv1beta2.ManagedClusterSet) *clusterv1beta2.ManagedClusterSet {
			changed := set.DeepCopy()
			changed.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
				SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
			}
			return changed
		},
	})
	cluster := func(version string, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
		return &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"gpu": "yes"}, ResourceVersion: version},
			Spec:       clusterv1.ManagedClusterSpec{Taints: taints},
		}
	}
	expectTaints := func(what string, want ...clusterv1.Taint) {
		t.Helper()
		infos := i.Snapshot().Clusters()
		if len(infos) != 1 {
			t.Fatalf("%s: %d clusters", what, len(infos))
		}
		if diff := cmp.Diff(want, infos[0].Taints); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}

	i.SetCluster(cluster("1"))
	expectTaints("a new cluster", gpu)
	if changes := i.CompareCluster("c1", cluster("2")); len(changes) > 0 {
		t.Errorf("a heartbeat compares as %v", changes)
	}
	i.SetCluster(cluster("2"))
	expectTaints("after a heartbeat", gpu)
	if changes := i.CompareCluster("c1", cluster("3", gpu)); len(changes) > 0 {
		t.Errorf("the taint as it was assumed compares as %v", changes)
	}

	other := clusterv1.Taint{Key: "other"}
	want := []clusterinfo.Property{
		{Kind: clusterinfo.Taint, Name: "gpu"}, {Kind: clusterinfo.Taint, Name: "other"}, {Kind: clusterinfo.Field, Name: "spec.taints"},
	}
	if diff := cmp.Diff(want, i.CompareCluster("c1", cluster("3", other))); diff != "" {
		t.Errorf("another taint (-want +got):\n%s", diff)
	}
	i.SetCluster(cluster("3", other))
	expectTaints("what is written counts", other)

	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "s", Generation: 1}}
	i.SetClusterSet(set)
	if count, known := i.Members(set); !known || count != 1 {
		t.Errorf("the set has %d members, known: %t", count, known)
	}
}
