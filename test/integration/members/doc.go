// SPDX-License-Identifier: Apache-2.0

// Package members gives integration specs member clusters: API servers on the etcd of the hub, each with OCM's work agent, and their
// ManagedClusters. An API server takes about 265 MB of memory, so a package of specs starts its members once and its specs share them.
package members
