// SPDX-License-Identifier: Apache-2.0

package scheduling

import "iter"

// Steady is the name of a prioritizer in the Placement API (docs/spec/upstream-placement.md 1.8).
const Steady = "Steady"

var steadyPrioritizer = &prioritizerPlugin{
	name: Steady, defaultWeight: 1,
	scores: func(c *candidates, _ Prioritizer) iter.Seq2[int, int64] { return c.steady },
}

// searches is how many clusters can be compared with the incumbents in the time in which one is found by its name.
const searches = 16

// steady prefers the incumbents of the Placement. There are few in a large fleet, unless the Placement selects most clusters.
func (c *candidates) steady(yield func(int, int64) bool) {
	if len(c.incumbents) > len(c.clusters)/searches {
		for i, info := range c.clusters {
			if c.incumbents.prefers(info.Name) && !yield(i, maxScore) {
				return
			}
		}
		return
	}
	for cluster := range c.incumbents {
		if i, feasible := c.index(cluster); feasible && !yield(i, maxScore) {
			return
		}
	}
}
