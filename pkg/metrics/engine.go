// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/placement-hub/placement-hub/pkg/scheduling"

var (
	// Comparisons counts Placements whose result was compared with that of the reference.
	Comparisons = counter(hub+"comparisons_total",
		"Placements evaluated a second time, by the reference scheduler, to compare the results.")

	// Divergences counts comparisons with different results.
	Divergences = counter(hub+"divergences_total", "Comparisons with different results. It must be 0.")

	cost = counter(hub+"cel_cost_total",
		"The cost of the CEL expressions of all evaluations, in units of at most 115 ns. A cached result counts as if it were computed again.")

	generation = gauge(hub+"inventory_generation",
		"The generation of the snapshot of the last evaluation. It increases with every change that a placement could read.")

	// Synced is 1 for each kind whose initial list is in the inventory, and 0 for other kinds.
	Synced = gauges(hub+"inventory_synced",
		"Whether the initial list of a kind of objects is in the inventory (1) or not (0). Nothing is evaluated until all are.", "kind")

	// Unreadable is the number of objects with fields that the hub cannot decode, by group and kind.
	Unreadable = gauges(hub+"unreadable_objects",
		"Objects with fields that Go cannot decode, such as the quantity 1e1.5. Events on these objects name the fields. It should be 0.",
		"group", "kind")
)

// ObserveResult records the CEL cost of a result in cost units, and the generation of its snapshot. It is safe for concurrent use.
func ObserveResult(result *scheduling.Result) {
	generation.Set(float64(result.Generation))
	if result.Cost > 0 {
		cost.Add(float64(result.Cost))
	}
}
