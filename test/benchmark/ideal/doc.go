// SPDX-License-Identifier: Apache-2.0

// Command ideal is a controller without a scheduler: it watches what the hub watches, with the same caches, and writes given decisions, given
// ManifestWorks or given ClusterRequestGrants. What it takes is what the hub would take if evaluating placements, federated objects or
// ClusterRequests cost nothing.
package main
