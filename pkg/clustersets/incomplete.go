// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// ClustersInventory is the name of the controller that creates ManagedClusters for Clusters, and writes their claims in a second request.
const ClustersInventory = "clusters-inventory"

// WithAssumedClaims returns a cluster of ClustersInventory without the claims that this controller is about to write with a pending taint that
// nothing tolerates, and the given object otherwise (docs/spec/differences.md B20). Every such cluster has the claim ProviderClaim.
func WithAssumedClaims(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	_, published := cluster.Annotations[openmcpv1alpha1.ClusterAnnotation]
	described := func(claim clusterv1.ManagedClusterClaim) bool { return claim.Name == openmcpv1alpha1.ProviderClaim }
	if !published || !cluster.DeletionTimestamp.IsZero() || slices.ContainsFunc(cluster.Status.ClusterClaims, described) {
		return cluster
	}
	return withTaint(cluster, clusterv1.Taint{
		Key: clusterinfo.IncompleteTaint, Effect: clusterv1.TaintEffectNoSelect, TimeAdded: clusterinfo.PendingTime(),
	})
}

// withTaint returns a shallow copy of a cluster with one more taint.
func withTaint(cluster *clusterv1.ManagedCluster, taint clusterv1.Taint) *clusterv1.ManagedCluster {
	changed := *cluster
	changed.Spec.Taints = append(slices.Clip(cluster.Spec.Taints), taint)
	return &changed
}
