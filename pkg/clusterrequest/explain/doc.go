// SPDX-License-Identifier: Apache-2.0

// Package explain explains what ClusterRequests get: docs/spec/cluster-request.md.
//
// NewReport runs clusterrequest.Catalog.Decide, which the controller carries out, and Catalog.Explain, and turns both into plain data with
// stable JSON names. For a request that gets nothing it searches the changes that would grant it, and evaluates the request with each.
// Compare decides all requests of two States in turn and returns a Difference.
//
// There is no second copy of any rule here. The package never talks to an API server, never opens a file and never reads a clock.
package explain
