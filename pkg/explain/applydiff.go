// SPDX-License-Identifier: Apache-2.0

package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// applyDiff replays the difference of two States on an inventory, as events of a hub, and returns the affected Placements. Objects that do
// not differ must be the same pointers in both States.
func (s *State) applyDiff(known *inventory.Inventory, after *State) map[inventory.Key]bool {
	concerned := map[inventory.Key]bool{}
	note := func(affected inventory.Affected) {
		for _, key := range affected.Subscribers {
			concerned[key] = true
		}
	}

	diffObjects(s.ClusterSets, after.ClusterSets,
		func(set *clusterv1beta2.ManagedClusterSet) { note(known.SetClusterSet(set)) },
		func(set *clusterv1beta2.ManagedClusterSet) { note(known.DeleteClusterSet(set.Name)) })
	if !sameBindings(s, after) { // Those that follow from RBAC are made anew.
		diffObjects(s.EffectiveBindings(), after.EffectiveBindings(),
			func(binding *clusterv1beta2.ManagedClusterSetBinding) { note(known.SetBinding(binding)) },
			func(binding *clusterv1beta2.ManagedClusterSetBinding) {
				note(known.DeleteBinding(binding.Namespace, binding.Name))
			})
	}
	diffObjects(s.Clusters, after.Clusters,
		func(cluster *clusterv1.ManagedCluster) { note(known.SetCluster(cluster)) },
		func(cluster *clusterv1.ManagedCluster) { note(known.DeleteCluster(cluster.Name)) })
	diffObjects(s.Scores, after.Scores,
		func(scores *clusterv1alpha1.AddOnPlacementScore) { note(known.SetScores(scores)) },
		func(scores *clusterv1alpha1.AddOnPlacementScore) {
			note(known.DeleteScores(scores.Namespace, scores.Name))
		})

	return concerned
}

// diffObjects calls set for the objects of the second list that the first does not have in this state, and gone for those that only the
// first has. It skips the common prefix and suffix, so that a change of one object in a long list is cheap.
func diffObjects[T interface {
	comparable
	metav1.Object
}](before, after []T, set, gone func(T)) {
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	known := make(map[types.NamespacedName]T, len(before))
	for _, object := range before {
		known[keyOf(object)] = object
	}

	for _, object := range after {
		key := keyOf(object)
		if known[key] != object {
			set(object)
		}
		delete(known, key)
	}

	for _, object := range before {
		if _, left := known[keyOf(object)]; left {
			gone(object)
		}
	}
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
