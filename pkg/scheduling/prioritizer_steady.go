package scheduling

// steady prefers the incumbents of the Placement.
func (c *candidates) steady() []int64 {
	scores := make([]int64, len(c.clusters))

	for i, f := range c.clusters {
		if c.incumbents[f.Name] {
			scores[i] = maxScore
		}
	}

	return scores
}
