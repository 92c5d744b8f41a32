// Package inventory holds the Facts of all clusters, the cluster sets, the bindings and the decisions that exist, and answers two
// questions: what does the world look like now (Snapshot), and which placements can one change have changed (Affected).
//
// It is fed one object at a time and remembers the state before, so that every change is mapped with both the old and the new object.
// Affected may name too many placements, never too few. A Snapshot is immutable and numbered; two calls without a change between them
// return the same one. An Inventory is safe for concurrent use.
//
// The answers are found by plain scans over the maps; nothing outside this package relies on how they are found.
package inventory
