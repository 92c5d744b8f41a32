// SPDX-License-Identifier: Apache-2.0

// Package publish publishes Clusters as ManagedClusters: docs/spec/cluster-request.md 4.6. Its controller clusters-inventory keeps a
// ManagedCluster, the namespace of it and the account of its work agent for each Cluster that was healthy once, by the rules of
// pkg/clusterrequest.
//
// Promises: the Cluster gets the finalizer InventoryFinalizer before anything else is written. A ManagedCluster or a namespace that is not
// that of the Cluster is never changed. The ManagedCluster of a Cluster that is being deleted, or gone, is deleted when no PlacementDecision
// names it and its namespace has no ManifestWork, or after the timeout; the finalizer is removed after that. A Cluster counts as gone only
// when the API server says so. A renewal of a Lease reads and writes nothing. Nothing is written where nothing has changed.
package publish
