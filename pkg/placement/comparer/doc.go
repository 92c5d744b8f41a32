// SPDX-License-Identifier: Apache-2.0

// Package comparer compares the indexed scheduler with the naive reference while the hub runs.
//
// The indexed scheduler updates its indexes incrementally, so an error in them would persist unnoticed. The Comparer therefore schedules
// Placements a second time with the reference, one after another in rotation, on the same snapshot. The results must be equal.
//
// A difference is logged and counted in placement_hub_divergences_total. Then all indexes are rebuilt from the objects, the Placement is
// reconciled at once, and all others follow with low priority. The result of the reference is never written: there is one way to decide,
// and rebuilt indexes correct it. If the rules of the scheduler are wrong, the next rotation reports the difference again.
//
// Promises: only the leader compares, one Placement at a time, and never while Placements wait to be reconciled. The pause after a
// comparison is a hundred times its duration and at least a second, so that it takes one percent of one CPU at most.
package comparer
