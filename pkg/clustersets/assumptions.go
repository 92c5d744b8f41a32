// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// AssumedControllers returns the names of the controllers whose writes Assumptions knows.
func AssumedControllers() []string {
	return []string{ClusterSet, ManagedClusterTaints, ClustersInventory}
}

// Assumptions returns what the controllers of a hub, by their names, are about to write to clusters and sets. Names of other controllers mean
// nothing.
func Assumptions(controllers []string) inventory.Assumptions {
	var assumed inventory.Assumptions
	taints, inventories := slices.Contains(controllers, ManagedClusterTaints), slices.Contains(controllers, ClustersInventory)
	switch {
	case taints && inventories:
		assumed.Cluster = func(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
			return WithAssumedClaims(WithAssumedTaint(cluster))
		}
	case taints:
		assumed.Cluster = WithAssumedTaint
	case inventories:
		assumed.Cluster = WithAssumedClaims
	}
	if slices.Contains(controllers, ClusterSet) {
		assumed.ClusterSet = WithStandardSelector
	}
	return assumed
}
