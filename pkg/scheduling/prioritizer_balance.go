package scheduling

import "github.com/placement-hub/placement-hub/pkg/facts"

// balance prefers clusters that stand in few decisions of other placements, hub-wide.
func (e *evaluation) balance(feasible []*facts.Facts) map[string]int64 {
	counts := e.snapshot.Elsewhere(e.request.Key)
	highest := 0

	for _, count := range counts {
		highest = max(highest, count)
	}

	scores := make(map[string]int64, len(feasible))
	for _, f := range feasible {
		scores[f.Name] = maxScore
		if count := counts[f.Name]; count > 0 {
			scores[f.Name] = 2 * int64(maxScore*(0.5-float64(count)/float64(highest)))
		}
	}

	return scores
}
