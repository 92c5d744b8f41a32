// SPDX-License-Identifier: Apache-2.0

// Package explain evaluates Placements without an API server, and reports the results as plain data.
//
// A State is the objects of a hub. Kinds is the table of their kinds: with an entry, a kind is read from a hub by the sub-package hubstate and from
// files by hubstate/statefile, named, compared, applied by State.With and yielded by State.Each. State.Evaluate runs the code of the
// controllers for every Placement of it. All Placements see the same decisions: those of the State. An
// Evaluation is the scheduling result with the plan and the status that the controller would write.
//
// NewReport turns an Evaluation into a Report: plain data with stable JSON names. A Report depends on nothing but its Evaluation. There is no
// second copy of any scheduling rule here: the verdict on a cluster is that of scheduling.Result, but for the clusters of Evaluation.Holds, which
// stay in the decisions although scheduling.Result rejects them.
//
// Diff compares the decisions that exist in a State with the desired decisions in another State, say with a changed Placement, and marks
// the differences that come without the change.
//
// NewWhatIf computes the differences of all decisions if other objects than Placements changed; the sub-package whatif makes the changed
// State. It evaluates only the Placements that depend on the change, which the inventory returns as on a hub.
//
// State.Unsatisfied lists the Placements that do not get the clusters they ask for. An Evaluator schedules one Placement in many variants
// of a State; the sub-package counterfactual finds with it which changes would select a cluster.
//
// All of these render to a Document of the sub-package document; the sub-package printers prints one as a table, JSON, YAML or names. The
// sub-package debug serves evaluations of a running hub over HTTP, by Evaluate.
//
// The package never talks to an API server, never opens a file and never reads a clock. It does not know the origin of a State.
package explain
