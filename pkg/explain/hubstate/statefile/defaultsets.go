// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// The sets that every hub has.
const (
	defaultSet = "default"
	globalSet  = "global"
)

// withDefaultSets adds the sets that every hub has, unless they are in the list.
func withDefaultSets(sets []*clusterv1beta2.ManagedClusterSet) []*clusterv1beta2.ManagedClusterSet {
	sets = slices.Clone(sets)
	for name, selector := range map[string]clusterv1beta2.ManagedClusterSelector{
		defaultSet: {SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
		globalSet:  {SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}},
	} {
		if !slices.ContainsFunc(sets, func(set *clusterv1beta2.ManagedClusterSet) bool { return set.Name == name }) {
			sets = append(sets, &clusterv1beta2.ManagedClusterSet{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: selector},
			})
		}
	}

	return sets
}
