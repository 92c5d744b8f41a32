// Package clusteraccess is the hub's part of AccessRequests: docs/spec/cluster-request.md 4.1.6. Its controller clusterrequest/access finds the
// Cluster of an AccessRequest, asks the API server whether the requester may access a shared one, and tells the provider of the Cluster to give
// the access: status.clusterRef and the condition Resolved. It deletes AccessRequests whose time is over.
//
// The status belongs to the provider while the condition is True for the present generation, and otherwise to the hub.
//
// Promises: access is taken away only after a live read of what the AccessRequest refers to, or a review that says no; a failed read or review
// takes nothing away. A label that users have set otherwise is not overwritten. Nothing is written where nothing has changed.
package clusteraccess
