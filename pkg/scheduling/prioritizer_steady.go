package scheduling

import "github.com/placement-hub/placement-hub/pkg/facts"

// steady prefers the clusters that this placement has selected already.
func (e *evaluation) steady(feasible []*facts.Facts) map[string]int64 {
	scores := make(map[string]int64, len(feasible))
	for _, f := range feasible {
		if e.incumbents[f.Name] {
			scores[f.Name] = maxScore
		} else {
			scores[f.Name] = 0
		}
	}

	return scores
}
