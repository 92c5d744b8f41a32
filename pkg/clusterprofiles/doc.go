// SPDX-License-Identifier: Apache-2.0

// Package clusterprofiles has the rules of the ClusterProfiles of multicluster.x-k8s.io that the hub makes of ManagedClusters
// (docs/spec/cluster-profiles.md): which namespaces have the ClusterProfile of a cluster (Scope), and what it says (Patterns.Profile).
//
// The ClusterProfiles are those that Open Cluster Management makes behind its feature gate ClusterProfile: they have the same names, namespaces and
// cluster manager, so that either of both can go on with the objects of the other.
//
// The package never talks to an API server and never reads a clock: every time in a ClusterProfile is one of the ManagedCluster, and equal
// ManagedClusters have equal ClusterProfiles. It has types of its own, because those of cluster-inventory-api write a property without a time of
// observation as one whose time is null, which the API server refuses.
package clusterprofiles
