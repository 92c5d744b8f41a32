// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Release says what has to be done for a request that is being deleted, in the order of the fields. Every write is one step: after it, the
// request is looked at again, so that a kill between two writes loses nothing.
type Release struct {
	// Delete are Clusters to delete, with preconditions on their UID and resourceVersion: no request can get them after that.
	Delete []*openmcpv1alpha1.Cluster
	// Leave are Clusters as they have to be without the finalizer of the request. Those in Delete are among them.
	Leave []*openmcpv1alpha1.Cluster
	// WaitFor is a Cluster that is being deleted and that the request waits for. The Grant stays until it is gone. Nil for none.
	WaitFor *openmcpv1alpha1.Cluster
	// Grant is the Grant to delete. Nil if there is none. The finalizer of the request goes after it.
	Grant *openmcpv1alpha1.ClusterRequestGrant
}

// Release returns what has to be done for a request that is being deleted (docs/spec/cluster-request.md 4.1.5). Nothing may be done for a
// request that is Ignored.
func (c *Catalog) Release(request *openmcpv1alpha1.ClusterRequest) Release {
	var release Release
	clusters := c.ClustersOf(request.UID)
	grant := c.grants[keyOf(request)]
	if grant != nil && GrantOwner(grant) == request.UID {
		release.Grant = grant
		cluster := c.Cluster(clusterOf(grant))
		if cluster != nil && !HasRequest(cluster, request.UID) {
			clusters = append(clusters, cluster)
		}
		if cluster != nil && waits(request, cluster) {
			release.WaitFor = cluster
		}
	}
	for _, cluster := range clusters {
		if goesWith(cluster, request.UID) && cluster.DeletionTimestamp == nil && !c.awaited(keyOf(cluster)) {
			release.Delete = append(release.Delete, cluster)
		}
		if HasRequest(cluster, request.UID) {
			release.Leave = append(release.Leave, Leave(cluster, request.UID))
		}
	}
	if release.WaitFor != nil && release.WaitFor.DeletionTimestamp == nil && !slices.Contains(release.Delete, release.WaitFor) {
		release.WaitFor = nil
	}

	return release
}

// goesWith reports whether a Cluster is deleted with a request: no other request has it, and its label says so.
func goesWith(cluster *openmcpv1alpha1.Cluster, request types.UID) bool {
	others := slices.ContainsFunc(RequestUIDs(cluster), func(uid types.UID) bool { return uid != request })
	return !others && cluster.Labels[openmcpv1alpha1.DeleteWithoutRequestsLabel] == "true"
}

// awaited reports whether a Grant that was restored without its owner names a Cluster: the request that adopts it may not be there yet.
func (c *Catalog) awaited(cluster types.NamespacedName) bool {
	return slices.ContainsFunc(c.GrantsOn(cluster), func(grant *openmcpv1alpha1.ClusterRequestGrant) bool { return GrantOwner(grant) == "" })
}

// waits reports whether a request that is being deleted waits for the deletion of its Cluster.
func waits(request *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster) bool {
	if request.Spec.WaitForClusterDeletion != nil {
		return *request.Spec.WaitForClusterDeletion
	}
	return cluster.Spec.Tenancy != openmcpv1alpha1.TenancyShared
}
