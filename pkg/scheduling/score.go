// SPDX-License-Identifier: Apache-2.0

package scheduling

import "sync"

// newCandidates returns candidates that have no clusters yet, and sets them in the Result.
func (e *evaluation) newCandidates() *candidates {
	c := &candidates{
		request: e.request, snapshot: e.snapshot, incumbents: e.incumbents, now: e.evalContext.Now, avoid: map[string]int{}, recorder: e.recorder,
	}
	e.result.Cost = e.evalContext.Cost()
	c.totals, c.kept, c.avoidCounts = sync.OnceValue(c.sumScores), sync.OnceValue(c.findKept), sync.OnceValue(c.findAvoidCounts)
	c.last = sync.OnceValue(c.findLast)
	c.shared = func(_ string, find func() []int64) []int64 { return find() }
	c.domains = c.findDomains
	e.result.candidates = c
	return c
}

// sumScores returns the weighted sum of all prioritizers for each candidate.
func (c *candidates) sumScores() []int64 {
	totals := make([]int64, len(c.clusters))
	for _, prioritizer := range c.request.Prioritizers {
		plugin := prioritizer.plugin()
		c.recorder.Begin(Step(plugin.name))
		for i, score := range plugin.scores(c, prioritizer) {
			totals[i] += int64(prioritizer.Weight) * score
		}
		c.recorder.End(Step(plugin.name))
	}
	return totals
}
