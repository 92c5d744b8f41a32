// Package guard keeps a mistake outside of a placement from emptying its decisions: clusters that vanish, sets that are emptied, bindings
// that disappear, labels that change.
//
// A Guard says how great a share of the clusters in the decisions of a placement may leave them within the Window. Judge compares the
// answer of the engine with the decisions there are, and with what has left them within the Window. An answer that would take more than
// the share is held: it is withheld as a whole, the decisions stay as they are, and the condition RemovalHeld tells what would leave, why,
// and how to let it go. Nothing is held
//
//   - that the placement's own spec asks for: until the decisions for a new generation are wholly written the guard is not armed;
//   - while an annotation of the placement releases the present generation;
//   - when another cluster takes the place, unless those count too: with a number of clusters what counts is by how much the decisions fall
//     short of it, and without one a cluster that still fits counts only if none came for it;
//   - when nothing would leave the decisions now.
//
// In doubt the guard is armed. All that it depends on stands in the status of the placement, so that a restart does not change it, and everybody
// who reads the placement comes to the same ruling: whether the guard is armed, the limit of the hub (in the text of the condition), and what
// has left within the Window (in the condition RecentRemovals). A Ruling says what to record before clusters leave, and after. The package
// remembers nothing and reads no clock.
package guard
