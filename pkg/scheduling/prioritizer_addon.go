package scheduling

import "github.com/placement-hub/placement-hub/pkg/facts"

// addOn takes the scores as they are. An absent object or entry counts 0, and so does an expired one (ours.md C3).
func (e *evaluation) addOn(p Prioritizer, feasible []*facts.Facts) map[string]int64 {
	scores := make(map[string]int64, len(feasible))

	for _, f := range feasible {
		set, found := f.Scores[p.Resource]
		if !found {
			scores[f.Name] = 0

			continue
		}

		e.pass.WakeAfterExpiry(set.ValidUntil)

		if set.Expired(e.pass.Now) {
			scores[f.Name] = 0
			e.warnExpired(p, f.Name)

			continue
		}

		scores[f.Name] = int64(set.Values[p.Score])
	}

	return scores
}
