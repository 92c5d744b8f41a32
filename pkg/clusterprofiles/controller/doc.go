// SPDX-License-Identifier: Apache-2.0

// Package controller makes the ClusterProfiles of ManagedClusters in the namespaces that have bound their sets (docs/spec/cluster-profiles.md).
//
// It promises: a ClusterProfile is written by server-side apply without force, and only when it does not say yet what the hub says. One whose
// values another writer owns is left to that writer. A ClusterProfile goes after the slices that name it, and only if the hub has applied it. A
// mistake in a set, a failed read and a namespace that terminates remove nothing.
package controller
