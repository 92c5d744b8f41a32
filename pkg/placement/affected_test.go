// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// B11: a cluster that is not feasible decides alone that it leaves, and with the bindings and sets only if it is out of scope.
func TestDecidersOfRemoval(t *testing.T) {
	edit := func(name string, change func(*clusterv1.ManagedCluster)) func(*inventory.Inventory) {
		return func(i *inventory.Inventory) {
			cluster := clusterOf(name)
			change(cluster)
			i.SetCluster(cluster)
		}
	}
	relabelled := edit("c-2", func(c *clusterv1.ManagedCluster) { c.Labels["prefix"] = "d" })
	outside := edit("c-3", func(c *clusterv1.ManagedCluster) { c.Labels["outside"] = "yes" })

	for _, tc := range []struct {
		reason string
		change []func(*inventory.Inventory)
		spec   clusterv1beta1.PlacementSpec
		want   *Deciders // nil for no removal
	}{
		{"nothing changes", nil, clusterv1beta1.PlacementSpec{}, nil},
		{
			"a cluster is gone", []func(*inventory.Inventory){func(i *inventory.Inventory) { i.DeleteCluster("c-2") }},
			clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-2"}, KnownBindings: true},
		},
		{
			"a cluster is terminating",
			[]func(*inventory.Inventory){edit("c-2", func(c *clusterv1.ManagedCluster) { c.DeletionTimestamp = ptr.To(metav1.NewTime(now.Time)) })},
			clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-2"}, KnownBindings: true},
		},
		{
			"a cluster matches no predicate", []func(*inventory.Inventory){relabelled},
			clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-2"}, KnownBindings: true},
		},
		{
			"a cluster has a taint", []func(*inventory.Inventory){edit("c-2", func(c *clusterv1.ManagedCluster) {
				c.Spec.Taints = []clusterv1.Taint{{Key: "broken", Effect: clusterv1.TaintEffectNoSelect}}
			})}, clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-2"}, KnownBindings: true},
		},
		{
			"a cluster is out of scope", []func(*inventory.Inventory){outside},
			clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-3"}},
		},
		{
			"one cluster matches no predicate and another one is out of scope", []func(*inventory.Inventory){relabelled, outside},
			clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-2", "c-3"}},
		},
		{
			"no set is bound", []func(*inventory.Inventory){func(i *inventory.Inventory) { i.DeleteBinding("ns", "all") }},
			clusterv1beta1.PlacementSpec{}, &Deciders{Clusters: []string{"c-1", "c-2", "c-3"}},
		},
		{
			"fewer are asked for", nil, clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)},
			&Deciders{Clusters: []string{"c-1", "c-2", "c-3"}, Ranked: true},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state := stateOf("c-1", "c-2", "c-3")
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all", Generation: 2}}
			set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
				SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "outside", Operator: metav1.LabelSelectorOpDoesNotExist}},
				},
			}
			state.SetClusterSet(set)
			for _, change := range tc.change {
				change(state)
			}
			tc.spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"prefix": "c"}},
			}}}

			result := resultOf(placementOf(tc.spec), state)
			deciders, removes := DecidersOfRemoval(result, Existing{Pages: []*api.Page{page(1, 0, "", "c-1", "c-2", "c-3")}})
			if removes != (tc.want != nil) {
				t.Fatalf("removes: %t", removes)
			}
			if diff := cmp.Diff(ptr.Deref(tc.want, Deciders{}), deciders); diff != "" {
				t.Error(diff)
			}
		})
	}
}
