package scheduling

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
