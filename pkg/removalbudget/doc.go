// SPDX-License-Identifier: Apache-2.0

// Package removalbudget is the removal budget: it keeps causes outside of a Placement from emptying its decisions, such as deleted clusters, sets
// without members, deleted bindings or changed labels. Count says whether more clusters leave than a percentage permits, for the decisions of
// Placements and for the works of federated objects; everything else here is about Placements.
//
// A Budget has the maximal percentage of the clusters in the decisions of a Placement that may be removed within the Window. Check compares
// a scheduling.Result with the existing decisions, and with the removals within the Window. A scheduling.Result that exceeds the budget is
// held as a whole: the decisions stay, and the condition RemovalHeld lists the clusters, the reasons, and how to release the removal.
// The budget does not block
//
//   - changes of the spec of the Placement: it applies again when the decisions for the new generation are completely written;
//   - anything while an annotation of the Placement releases its current generation;
//   - replacements, unless they count too: with a number of clusters only the shortfall counts, and without one a cluster that is still
//     feasible counts only if no other cluster was added for it;
//   - a scheduling.Result that removes no cluster from the existing decisions.
//
// In doubt the budget applies. All that it depends on is in the status of the Placement, so that a restart does not change it, and every
// reader of the Placement computes the same Result: whether the spec was applied, the limit of the hub (in the text of the condition), and
// the removals within the Window (in the condition RecentRemovals). A Result has the records to write before clusters are removed, and
// after. The package has no state and reads no clock.
package removalbudget
