// SPDX-License-Identifier: Apache-2.0

package scheduling

import "math"

// The conventional bounds of a score.
const (
	maxScore = 100
	minScore = -100
)

// normalize maps amounts linearly to [-100, 100], the highest to 100. Equal amounts all map to 100, fractions are truncated toward zero,
// and NaN, which means that there is no amount, maps to 0.
//
// The difference of any two amounts must be finite, as it is for clusterinfo.Resources: then the quotient is in [0, 1], and the conversion
// to an integer is the same on every architecture. No product is added to anything here, so that no compiler fuses two operations into one,
// which would round in another way.
func normalize(amounts []float64) []int64 {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, amount := range amounts {
		if !math.IsNaN(amount) {
			lowest, highest = min(lowest, amount), max(highest, amount)
		}
	}
	scores := make([]int64, len(amounts))

	for i, amount := range amounts {
		switch {
		case math.IsNaN(amount):
		case highest > lowest:
			scores[i] = int64(((amount-lowest)/(highest-lowest) - 0.5) * (maxScore - minScore))
		default:
			scores[i] = maxScore
		}
	}
	return scores
}
