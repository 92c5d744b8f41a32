// SPDX-License-Identifier: Apache-2.0

// Package access is the hub's part of AccessRequests: docs/spec/cluster-request.md 4.1.6. Its controller clusterrequest/access finds the
// Cluster of an AccessRequest, sends SubjectAccessReviews for the rights of its requester, and writes status.clusterRef and the condition
// Resolved, by which the provider of the Cluster gives the access. It deletes AccessRequests whose ttl has passed.
//
// A no is final for the present spec. While the access lasts, the rights are reviewed again every five minutes, and when a role or a binding that
// may concern them is created, changed or deleted (docs/spec/trust.md R8). Two reviews in a row that say no, a minute apart at least, end the access.
// A yes writes nothing.
//
// The status belongs to the provider while the condition is True for the present generation, and otherwise to the hub.
//
// An AccessRequest whose ClusterProvider has no spec.access is denied with the reason NoAccess, and loses the finalizer of the provider, unless
// the provider has made a Secret for it.
//
// Promises: access is taken away only after a live read of what the AccessRequest refers to, or reviews that say no; a failed read or review
// takes nothing away. A label that users have set otherwise is not overwritten. Nothing is written where nothing has changed.
package access
