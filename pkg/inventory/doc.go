// SPDX-License-Identifier: Apache-2.0

// Package inventory has the ClusterInfos of all clusters, the cluster sets, the bindings and the existing decisions. A Snapshot is the
// state at one time, and Affected are the subscribers whose result one change may have changed.
//
// Each method that changes the inventory takes one object and compares it with the former state, so that every change is handled with the
// old and the new object. Affected may contain too many subscribers, never too few. A Snapshot is immutable and numbered; two calls without
// a change between them return the same one. An Inventory is safe for concurrent use.
//
// Work is proportional to the change. Every distinct selector in use has one view, a bitset of the clusters that match, and the views are
// indexed by what they read: a changed label or claim re-evaluates, on that one cluster, the views that require the old or the new value,
// or read the property in another way. The dependents of the views that flip are affected. Selectors with CEL cache the verdict on each
// cluster on which they were evaluated. Where the first expression compares labels, one evaluation gives the verdict of all clusters that have
// these labels with other values. Snapshots share everything that has not changed: clusters and counts are in chunks, views in
// bitsets, names in radix trees, and all of these are copied on write.
//
// With Assumptions, clusters and sets count as controllers of the hub are about to write them.
//
// An object of any kind, such as a Placement, subscribes to what it reads by Subscribe, which declares its dependencies, and SnapshotFor,
// which returns the Snapshot for its first evaluation. Before that it is never affected: it has no result yet, and waits to be evaluated
// anyway.
package inventory
