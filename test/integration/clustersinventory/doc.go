// SPDX-License-Identifier: Apache-2.0

// Package clustersinventory tests the ManagedClusters of Clusters on a real API server, with the rights that are shipped:
// docs/spec/cluster-request.md 4.6.
package clustersinventory
