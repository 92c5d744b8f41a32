// Package inventory holds the Facts of all clusters, the cluster sets, the bindings and the decisions that exist, and answers two
// questions: what does the world look like now (Snapshot), and which placements can one change have changed (Affected).
//
// It is fed one object at a time and remembers the state before, so that every change is mapped with both the old and the new object.
// Affected may name too many placements, never too few. A Snapshot is immutable and numbered; two calls without a change between them
// return the same one. An Inventory is safe for concurrent use.
//
// Work is proportional to the change. Every distinct selector that somebody uses has one view, a set of the clusters that match, and the
// views are found by what they read: a changed label or claim asks those views that name the old or the new value, or read the key in
// another way, about that one cluster. A view that says something else then leads to the placements that use it. Selectors with CEL
// remember what they said of each cluster they were asked about. Snapshots share what has not changed with those before: clusters and
// counts lie in chunks, views in bitsets, names in radix trees, and what changes after a snapshot is copied first.
//
// A placement has no part in this before a snapshot was taken for it: it waits to be evaluated then, and nothing can change its answer.
package inventory
