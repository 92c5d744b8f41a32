// SPDX-License-Identifier: Apache-2.0

package explain

// WhatIfSummary counts differences. Those that come without the changes count only in Behind.
type WhatIfSummary struct {
	// Affected counts the Placements that lose, gain or move clusters.
	Affected int `json:"affected"`
	// Losing Placements lose Lost clusters, each counted once for each Placement. Gaining and Gained, and Moving and Moved, count alike;
	// moved clusters stay and change their decision group.
	Losing  int `json:"losing"`
	Lost    int `json:"lost"`
	Gaining int `json:"gaining"`
	Gained  int `json:"gained"`
	Moving  int `json:"moving"`
	Moved   int `json:"moved"`
	// Unsatisfied counts the Placements that would cease to be satisfied.
	Unsatisfied int `json:"unsatisfied"`
	// Later counts the Placements that do not change now, but may change later without an event, because of the changes.
	Later int `json:"later"`
	// Unchanged counts the other Placements that have a result or are skipped.
	Unchanged int `json:"unchanged"`
	// Behind counts the unchanged Placements whose existing decisions differ from the result, so that the hub is about to write them.
	Behind int `json:"behind"`
	// Stalled counts the Placements without a valid result.
	Stalled int `json:"stalled"`
}

// changeCounts counts the differences that would not come without the changes.
type changeCounts struct{ lost, gained, moved int }

func (d Difference) countChanges() changeCounts {
	var due changeCounts
	for _, loss := range d.Lost {
		due.lost += toInt(!loss.Anyway)
	}
	for _, gain := range d.Gained {
		due.gained += toInt(!gain.Anyway)
	}
	for _, move := range d.Moved {
		due.moved += toInt(!move.Anyway)
	}
	return due
}

func toInt(counts bool) int {
	if counts {
		return 1
	}
	return 0
}

// summarize counts the outcomes; unchanged is the number of Placements that were not compared.
func summarize(outcomes []outcome, unchanged int) WhatIfSummary {
	s := WhatIfSummary{Unchanged: unchanged}
	for _, o := range outcomes {
		due := o.difference.countChanges()
		switch {
		case o.difference.Stalled != "" && due == changeCounts{}:
			s.Stalled++
		case due == changeCounts{} && o.difference.ChangesAt != nil:
			s.Later++
		case due == changeCounts{}:
			s.Unchanged++
			s.Behind += toInt(o.difference.Differs())
		default:
			s.Affected++
			s.Losing += toInt(due.lost > 0)
			s.Lost += due.lost
			s.Gaining += toInt(due.gained > 0)
			s.Gained += due.gained
			s.Moving += toInt(due.moved > 0)
			s.Moved += due.moved
			s.Unsatisfied += toInt(o.unsatisfied)
		}
	}

	return s
}
