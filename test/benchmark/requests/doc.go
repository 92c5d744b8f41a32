// SPDX-License-Identifier: Apache-2.0

// Package requests is what the scenario requests of the benchmark measures with: the Purposes, the ClusterRequests and further Clusters, and
// what ClusterRequests must have been granted. It sends nothing itself.
package requests
