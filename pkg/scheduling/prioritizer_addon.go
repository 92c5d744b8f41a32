package scheduling

// addOn returns the reported scores, clamped to the range that the CRD of AddOnPlacementScore allows. An absent object or entry counts as
// 0, and so does an expired one (docs/spec/differences.md C3).
func (c *candidates) addOn(p Prioritizer) []int64 {
	scores := make([]int64, len(c.clusters))

	for i, f := range c.clusters {
		if set, found := f.Scores[p.Resource]; found && !set.Expired(c.now) {
			scores[i] = max(minScore, min(int64(set.Values[p.Score]), maxScore))
		}
	}

	return scores
}
