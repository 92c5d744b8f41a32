// SPDX-License-Identifier: Apache-2.0

package scheduling

// Balance is the name of a prioritizer in the Placement API (docs/spec/upstream-placement.md 1.8).
const Balance = "Balance"

var balancePrioritizer = &prioritizerPlugin{
	name: Balance, defaultWeight: 1, readsDecisions: true,
	scores: func(c *candidates, _ Prioritizer) []int64 { return c.balance() },
}

// balance prefers clusters that are in few decisions of other Placements of the hub.
func (c *candidates) balance() []int64 {
	counts, highest := c.decisionCounts()
	scores := make([]int64, len(c.clusters))
	for i := range scores {
		scores[i] = maxScore
		if count := counts(i); count > 0 {
			scores[i] = 2 * int64(maxScore*(0.5-float64(count)/float64(highest)))
		}
	}
	return scores
}
