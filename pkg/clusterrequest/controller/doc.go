// SPDX-License-Identifier: Apache-2.0

// Package controller keeps what ClusterRequests were granted: docs/spec/cluster-request.md. Its controller clusterrequest/requests writes
// the finalizers of requests on Clusters, new Clusters, ClusterRequestGrants and the status of requests, by the decisions of
// pkg/clusterrequest.
//
// The ledger has the Catalog of all objects, in which a choice counts before it is written, so that requests that are decided at the same
// time do not get the same slot. Writes of one Cluster are done in turn, and one write may carry the choices of several requests.
//
// Promises: the Cluster is written before the Grant, and the Grant before the status. Every write has the state that it was decided by as
// its precondition, and a write that fails takes back all choices that it carried. After a conflict with a write that changed neither the
// spec nor the requests of the Cluster, such as one of its provider, the choices are sent again over the new state. A request that has a
// Grant or a finalizer on a Cluster is never chosen for again. Nothing is written where nothing has changed.
package controller
