// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// Objects are the objects of a hub that decide what ClusterRequests get. The order of each list does not matter. No function of this package
// changes the objects.
type Objects struct {
	Requests     []*openmcpv1alpha1.ClusterRequest
	Grants       []*openmcpv1alpha1.ClusterRequestGrant
	Clusters     []*openmcpv1alpha1.Cluster
	Providers    []*openmcpv1alpha1.ClusterProvider
	Purposes     []*openmcpv1alpha1.Purpose
	Equivalences []*openmcpv1alpha1.TraitEquivalence
	// Managed are the ManagedClusters. No request depends on them.
	Managed []*clusterv1.ManagedCluster
	// Options are the settings of the hub.
	Options clusterrequest.Options
	// Missing has a sentence for each kind that could not be read, with what that means for the reports.
	Missing []string
}

// Find returns the requests of a name, in any namespace if namespace is empty, sorted by namespace.
func (o *Objects) Find(namespace, name string) []*openmcpv1alpha1.ClusterRequest {
	var found []*openmcpv1alpha1.ClusterRequest
	for _, request := range o.sorted() {
		if request.Name == name && (namespace == "" || request.Namespace == namespace) {
			found = append(found, request)
		}
	}
	return found
}

// sorted returns the requests by namespace and name.
func (o *Objects) sorted() []*openmcpv1alpha1.ClusterRequest {
	requests := slices.Clone(o.Requests)
	slices.SortFunc(requests, func(a, b *openmcpv1alpha1.ClusterRequest) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return requests
}

// catalog returns the Catalog of the objects.
func (o *Objects) catalog() *clusterrequest.Catalog {
	catalog := clusterrequest.NewCatalog(o.Options)
	for _, purpose := range o.Purposes {
		catalog.SetPurpose(purpose)
	}
	for _, equivalence := range o.Equivalences {
		catalog.SetTraitEquivalence(equivalence)
	}
	for _, provider := range o.Providers {
		catalog.SetClusterProvider(provider)
	}

	for _, cluster := range o.Clusters {
		catalog.SetCluster(cluster)
	}
	for _, grant := range o.Grants {
		catalog.SetGrant(grant)
	}
	return catalog
}

// without returns the objects as they would be if a request had never been granted: without its Grant and its finalizers.
func (o *Objects) without(request *openmcpv1alpha1.ClusterRequest) *Objects {
	others := *o
	others.Grants = slices.DeleteFunc(slices.Clone(o.Grants), func(grant *openmcpv1alpha1.ClusterRequestGrant) bool {
		return clusterrequest.GrantOwner(grant) == request.UID && grant.Namespace == request.Namespace && grant.Name == request.Name
	})
	others.Clusters = nil

	for _, cluster := range o.Clusters {
		if request.UID != "" && clusterrequest.HasRequest(cluster, request.UID) {
			cluster = clusterrequest.Leave(cluster, request.UID)
		}
		others.Clusters = append(others.Clusters, cluster)
	}
	return &others
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
