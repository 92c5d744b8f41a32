// SPDX-License-Identifier: Apache-2.0

// Package multicluster holds the specs of PlacementDecisions of multicluster.x-k8s.io, which refer to ClusterProfiles.
package multicluster
