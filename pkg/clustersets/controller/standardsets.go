// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// createStandard creates a standard set, and ignores any other name.
func (r *clusterSetReconciler) createStandard(ctx context.Context, name string) error {
	standard, found := clustersets.StandardSelector(name)
	if !found {
		return nil
	}
	set := &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: standard},
	}
	if err := r.client.Create(ctx, set); err != nil {
		return fmt.Errorf("creating ManagedClusterSet %s: %w", name, err)
	}
	return nil
}

// restoreSelector restores only the selector of a standard set. It reports whether it wrote.
func (r *clusterSetReconciler) restoreSelector(ctx context.Context, set *clusterv1beta2.ManagedClusterSet) (bool, error) {
	restored := clustersets.WithStandardSelector(set)
	if restored == set {
		return false, nil
	}
	if err := r.client.Update(ctx, restored); err != nil {
		return false, fmt.Errorf("putting the selector of ManagedClusterSet %s back: %w", set.Name, err)
	}
	return true, nil
}
