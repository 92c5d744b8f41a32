// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// autoUpdateAnnotation with the value "false" opts a standard set out of being restored.
const autoUpdateAnnotation = "cluster.open-cluster-management.io/autoupdate"

// standardSets are the ManagedClusterSets of every hub (docs/spec/upstream-placement.md 1.3).
var standardSets = map[string]clusterv1beta2.ManagedClusterSelector{
	"default": {SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
	"global":  {SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}},
}

// createStandard creates a standard set, and ignores any other name.
func (r *clusterSetReconciler) createStandard(ctx context.Context, name string) error {
	standard, found := standardSets[name]
	if !found {
		return nil
	}
	set := &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: *standard.DeepCopy()},
	}
	if err := r.client.Create(ctx, set); err != nil {
		return fmt.Errorf("creating ManagedClusterSet %s: %w", name, err)
	}
	return nil
}

// restoreSelector restores only the selector of a standard set, unless the annotation opts out. It reports whether it wrote.
func (r *clusterSetReconciler) restoreSelector(ctx context.Context, set *clusterv1beta2.ManagedClusterSet) (bool, error) {
	standard, found := standardSets[set.Name]
	if !found || set.Annotations[autoUpdateAnnotation] == "false" || sameSelector(set.Spec.ClusterSelector, standard) {
		return false, nil
	}
	changed := set.DeepCopy()
	changed.Spec.ClusterSelector = *standard.DeepCopy()
	if err := r.client.Update(ctx, changed); err != nil {
		return false, fmt.Errorf("putting the selector of ManagedClusterSet %s back: %w", set.Name, err)
	}
	return true, nil
}

// sameSelector distinguishes an absent label selector, which selects nothing, from an empty one, which selects everything.
func sameSelector(a, b clusterv1beta2.ManagedClusterSelector) bool {
	return a.SelectorType == b.SelectorType && (a.LabelSelector == nil) == (b.LabelSelector == nil) &&
		equality.Semantic.DeepEqual(a, b)
}
