package metrics

import "github.com/placement-hub/placement-hub/pkg/scheduling"

var (
	// Comparisons counts Placements whose result was compared with that of the reference.
	Comparisons = counter(hub+"comparisons_total",
		"Placements evaluated a second time, by the straightforward reference, to compare the answers.")

	// Divergences counts comparisons with different results.
	Divergences = counter(hub+"divergences_total", "Comparisons in which the two answers differed. It must be 0.")

	cost = counter(hub+"cel_cost_total",
		"What the CEL expressions of all evaluations cost, in CEL's own cost units. An answer that is remembered counts as if it were found anew.")

	generation = gauge(hub+"inventory_generation",
		"The number of the view of the world that the last evaluation was made on. It grows with every change that some placement could read.")

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
