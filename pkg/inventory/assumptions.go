// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// Assumptions say what controllers of the hub are about to write to objects, which count as they will be (docs/spec/differences.md B20). Each
// function returns the given object where nothing will be written, and never changes it. Nil assumes nothing.
type Assumptions struct {
	Cluster    func(*clusterv1.ManagedCluster) *clusterv1.ManagedCluster
	ClusterSet func(*clusterv1beta2.ManagedClusterSet) *clusterv1beta2.ManagedClusterSet
}

// SetAssumptions sets the Assumptions of the inventory. It must be called before the first object is set.
func (i *Inventory) SetAssumptions(a Assumptions) { i.assumptions = a }

func (a Assumptions) cluster(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	if a.Cluster == nil {
		return cluster
	}
	return a.Cluster(cluster)
}

func (a Assumptions) clusterSet(set *clusterv1beta2.ManagedClusterSet) *clusterv1beta2.ManagedClusterSet {
	if a.ClusterSet == nil {
		return set
	}
	return a.ClusterSet(set)
}
