// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// Exponent says how a figure grows: with the size to the power of Value. The size is the geometric mean of clusters and placements, so that
// twice as many of both are twice the size; 0 is a cost that does not depend on it, 1 one that grows with it.
type Exponent struct {
	Figure string     `json:"figure"`
	From   fleet.Size `json:"from"`
	To     fleet.Size `json:"to"`
	Value  float64    `json:"value"`
}

// Exponents fits the growth of each figure over all runs that have it, by least squares over the logarithms. Figures that are not above 0,
// or were measured at one size alone, have none.
func Exponents(runs []Run, keys ...string) []Exponent {
	var exponents []Exponent
	for _, key := range keys {
		var xs, ys []float64
		var sizes []fleet.Size
		for i := range runs {
			if value, found := runs[i].Value(key); found && value > 0 {
				size := runs[i].Size
				xs = append(xs, math.Log(float64(size.Clusters)*float64(size.Placements))/2)
				ys = append(ys, math.Log(value))
				sizes = append(sizes, size)
			}
		}
		if slope, ok := fit(xs, ys); ok {
			exponents = append(exponents, Exponent{Figure: key, From: sizes[0], To: sizes[len(sizes)-1], Value: slope})
		}
	}
	return exponents
}

// fit is the slope of the line nearest to the points; there is none through points one above the other.
func fit(xs, ys []float64) (float64, bool) {
	var meanX, meanY float64
	for i := range xs {
		meanX += xs[i] / float64(len(xs))
		meanY += ys[i] / float64(len(xs))
	}
	var above, below float64
	for i := range xs {
		above += (xs[i] - meanX) * (ys[i] - meanY)
		below += (xs[i] - meanX) * (xs[i] - meanX)
	}
	if below == 0 {
		return 0, false
	}
	return above / below, true
}
