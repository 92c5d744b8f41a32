// SPDX-License-Identifier: Apache-2.0

// Package clusterrequest has the rules of cluster requests, grants and access: docs/spec/cluster-request.md.
//
// A Catalog has the Clusters, ClusterRequestGrants, ClusterProviders, Purposes and TraitEquivalences of a hub. Catalog.Decide returns what
// a ClusterRequest gets: a request that is granted keeps its Cluster, one whose Grant was lost gets it back from its Cluster, and only for
// others it chooses. Catalog.Evaluate returns the choice for a request as if it had no Grant, with what every Cluster and every profile lacks and
// the ranks of those that fit; it is for explanations. Catalog.Release returns what is to be done for a request that is being deleted.
//
// ManagedClusterName and the functions beside it say how a Cluster is published as a ManagedCluster, and NewAccess which objects give an
// AccessRequest its permissions on a cluster.
//
// The package is pure: it imports no client, reads no clock, and logs nothing. Its results do not depend on the order of objects and maps.
// It never changes an object that it was given.
package clusterrequest
