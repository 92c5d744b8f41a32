// SPDX-License-Identifier: Apache-2.0

// Package controller controls who may place where. Its controllers write the condition ClusterSetEmpty of ManagedClusterSets and restore
// the sets default and global (clusterset), write the condition Bound of ManagedClusterSetBindings (clustersetbinding), derive bindings
// from the RBAC of the ServiceAccounts named placement (clustersetbinding-rbac), and write the ClusterRoles with which an admin hands a set
// to users (clusterset-roles).
//
// Promises: conditions are written only when they change. Of a standard set only the selector is restored, unless its annotation opts out.
// A set with an invalid selector keeps its condition. The package never changes a ClusterRole that the hub did not create, and deletes
// none. A binding is deleted only if it is marked as derived from RBAC and every reconcile of one second found it unwanted, or of ten
// seconds while the creation of a binding fails that may replace it. An unmanaged binding that outlives its right stays, and is named by an Event
// and a metric. Bindings are created and deleted only after a review by the API
// server, because the cache may be stale. Neither an incomplete cache nor a failed read counts as a revocation.
package controller
