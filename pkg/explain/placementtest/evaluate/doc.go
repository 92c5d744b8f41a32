// SPDX-License-Identifier: Apache-2.0

// Package evaluate evaluates PlacementTests (docs/spec/placement-test.md) in a State of a hub, which is its World.
//
// Run reads the World once: the Placements of all cases are evaluated by one explain.Variants, by the code of the controller. Cases with the same
// situation (spec.when) share its evaluation. The loss of a cluster is a change of that cluster in the index, after which only the Placements
// are evaluated whose result depends on it. There is no second copy of any scheduling rule here, and a clause that does not hold is explained by
// scheduling.Result and counterfactual.Search, as placement explain does it.
//
// Objects that are delivered are evaluated in the same index. RunExplained evaluates what the explanations of a hub have, for users who may not read
// the World.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package evaluate
