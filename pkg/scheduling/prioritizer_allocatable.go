package scheduling

import "math"

// allocatable prefers clusters with a high allocatable amount of a resource. A cluster that does not report it has no score.
func (c *candidates) allocatable(resource string) []int64 {
	amounts := make([]float64, len(c.clusters))

	for i, f := range c.clusters {
		amounts[i] = math.NaN()
		if amount, reported := f.Resources[resource]; reported {
			amounts[i] = amount
		}
	}

	return normalize(amounts)
}
