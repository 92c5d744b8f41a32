// SPDX-License-Identifier: Apache-2.0

package scheduling

import "iter"

// Balance is the name of a prioritizer in the Placement API (docs/spec/upstream-placement.md 1.8).
const Balance = "Balance"

var balancePrioritizer = &prioritizerPlugin{
	name: Balance, defaultWeight: 1, readsDecisions: true,
	scores: func(c *candidates, _ Prioritizer) iter.Seq2[int, int64] { return c.balance },
}

// balance prefers clusters that are in few decisions of other Placements of the hub.
func (c *candidates) balance(yield func(int, int64) bool) {
	counts, highest := c.decisionCounts()
	for i := range c.clusters {
		score := int64(maxScore)
		if count := counts(i); count > 0 {
			score = 2 * int64(maxScore*(0.5-float64(count)/float64(highest)))
		}
		if !yield(i, score) {
			return
		}
	}
}
