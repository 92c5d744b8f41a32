// SPDX-License-Identifier: Apache-2.0

// Package access is a provider's part of AccessRequests: docs/spec/cluster-request.md 4.1.6. It gives a user of the hub exactly the
// permissions of an AccessRequest on the cluster of a Cluster of this provider: a ServiceAccount, roles and bindings there, and a Secret with
// a kubeconfig beside the AccessRequest.
//
// Which Cluster that is, the package reads only from status.clusterRef, which users cannot write. It acts when the condition Resolved is True
// for the present generation, removes everything when the condition is False or the AccessRequest is being deleted, and otherwise leaves
// what it made as it is.
//
// Promises: the finalizer is on the AccessRequest before the first write to the cluster, and stays until the last object of the AccessRequest
// and its Secret are gone. An object on the cluster or a Secret that the provider did not make is neither changed nor deleted. No object is
// written when a permission cannot be granted. Nothing is written where nothing has changed.
//
// An AccessRequest that goes without its finalizer keeps nothing, either: the controller clusterprovider/access-sweep looks at each cluster when the
// provider starts and every ten minutes, and knows the objects of this provider by their labels and annotations (docs/spec/trust.md R7). Only a list
// of AccessRequests by the API server says that one is gone. Objects of other providers and hubs are left alone.
//
// The provider's ServiceAccount on the hub needs: get, list, watch and patch AccessRequests and patch their status; get, list and watch
// Clusters; get, create, update and delete Secrets; and the verb provide on its ClusterProvider. A provider that gives no access does without
// this package, and the hub denies its AccessRequests.
package access
