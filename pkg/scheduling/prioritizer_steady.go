// SPDX-License-Identifier: Apache-2.0

package scheduling

// Steady is the name of a prioritizer in the Placement API (docs/spec/upstream-placement.md 1.8).
const Steady = "Steady"

var steadyPrioritizer = &prioritizerPlugin{
	name: Steady, defaultWeight: 1,
	scores: func(c *candidates, _ Prioritizer) []int64 { return c.steady() },
}

// steady prefers the incumbents of the Placement.
func (c *candidates) steady() []int64 {
	scores := make([]int64, len(c.clusters))
	for i, info := range c.clusters {
		if c.incumbents.prefers(info.Name) {
			scores[i] = maxScore
		}
	}
	return scores
}
