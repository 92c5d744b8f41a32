package scheduling

import "github.com/placement-hub/placement-hub/pkg/facts"

// allocatable prefers clusters with much of a resource to allocate. A cluster that does not report it has no score.
func allocatable(feasible []*facts.Facts, resource string) map[string]int64 {
	amounts := make(map[string]float64, len(feasible))

	for _, f := range feasible {
		if amount, reported := f.Resources[resource]; reported {
			amounts[f.Name] = amount
		}
	}

	return normalise(amounts)
}
