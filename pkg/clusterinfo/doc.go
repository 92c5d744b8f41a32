// SPDX-License-Identifier: Apache-2.0

// Package clusterinfo has ClusterInfo, what the hub knows of one ManagedCluster, normalised once per change.
//
// A ClusterInfo is immutable, so goroutines and snapshots may share it. Every fact that a placement can read has a Property, by which a
// reader declares what it reads. ChangedProperties returns every Property that may differ between two states of a cluster: it may return
// too many, never too few.
//
// A taint may have a time that is not known, because the hub could not decode it or has not written the taint yet.
//
// The package never talks to an API server and never reads a clock.
package clusterinfo
