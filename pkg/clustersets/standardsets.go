// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// ClusterSet is the name of the controller that writes the status of ManagedClusterSets and restores the standard sets.
const ClusterSet = "clusterset"

// The ManagedClusterSets of every hub (docs/spec/upstream-placement.md 1.3).
const (
	defaultSet = "default"
	globalSet  = "global"
)

// autoUpdateAnnotation with the value "false" opts a standard set out of being restored.
const autoUpdateAnnotation = "cluster.open-cluster-management.io/autoupdate"

// StandardSets returns the names of the ManagedClusterSets that every hub has.
func StandardSets() []string { return []string{defaultSet, globalSet} }

// StandardSelector returns the selector of a standard set; false for any other name.
func StandardSelector(name string) (clusterv1beta2.ManagedClusterSelector, bool) {
	switch name {
	case defaultSet:
		return clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}, true
	case globalSet:
		return clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
		}, true
	default:
		return clusterv1beta2.ManagedClusterSelector{}, false
	}
}

// WithStandardSelector returns a standard set with its selector, as the controller ClusterSet restores it, and the given object if there is
// nothing to restore: another set, one that opts out, or one that is being deleted.
func WithStandardSelector(set *clusterv1beta2.ManagedClusterSet) *clusterv1beta2.ManagedClusterSet {
	standard, found := StandardSelector(set.Name)
	if !found || !set.DeletionTimestamp.IsZero() || set.Annotations[autoUpdateAnnotation] == "false" ||
		sameSelector(set.Spec.ClusterSelector, standard) {
		return set
	}
	restored := set.DeepCopy()
	restored.Spec.ClusterSelector = standard
	return restored
}

// sameSelector distinguishes an absent label selector, which selects nothing, from an empty one, which selects everything.
func sameSelector(a, b clusterv1beta2.ManagedClusterSelector) bool {
	return a.SelectorType == b.SelectorType && (a.LabelSelector == nil) == (b.LabelSelector == nil) &&
		equality.Semantic.DeepEqual(a, b)
}
