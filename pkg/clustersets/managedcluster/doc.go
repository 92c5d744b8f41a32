// SPDX-License-Identifier: Apache-2.0

// Package managedcluster has the controllers of ManagedClusters: vocabulary writes the ConfigMap with the label keys, claims, taints and
// sets that a Placement can use, and how many use the sets, which the admission policies read, and
// managedcluster-taints writes the taints of clusters that are not available.
//
// Promises: vocabulary lists the whole fleet once in a second at most, and after changes of Placements alone once in 30 seconds. No namespace takes
// the room of another one's numbers. Only the two taints that report availability are changed, in one write, and never without their time. With a
// grace period, the first taint of a cluster waits until the cluster was not available for that long; a removal never waits. Nothing is written when
// nothing changed.
package managedcluster
