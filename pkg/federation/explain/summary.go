// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"
)

// Summary counts Differences. Those that come without the change do not count.
type Summary struct {
	// Losing objects are withdrawn from Lost clusters, each counted once for each object. Gaining objects are delivered to Gained clusters.
	Losing  int `json:"losing"`
	Lost    int `json:"lost"`
	Gaining int `json:"gaining"`
	Gained  int `json:"gained"`
	// Workloads counts the losing objects with replicas by kind.
	Workloads []WorkloadSummary `json:"workloads,omitempty"`
	// Held counts the objects whose withdrawal from some clusters would be held, and Stopped those that would not be delivered any more, but kept.
	Held    int `json:"held"`
	Stopped int `json:"stopped"`
}

// WorkloadSummary counts the objects of a kind that are withdrawn somewhere, and their replicas there.
type WorkloadSummary struct {
	Kind     string `json:"kind"`
	Objects  int    `json:"objects"`
	Replicas int32  `json:"replicas"`
}

// Summarize counts Differences.
func Summarize(differences []Difference) Summary {
	var s Summary
	for _, d := range differences {
		lost, held, gained := len(d.due(d.Lost)), len(d.due(d.Held)), len(d.due(d.Gained))
		if d.State != "Delivering" && lost+held == 0 {
			if !d.New {
				s.Stopped++
			}
			continue
		}
		if held > 0 {
			s.Held++
		}

		if lost > 0 {
			s.Losing++
			s.Lost += lost
			s.addWorkload(d)
		}
		if gained > 0 {
			s.Gaining++
			s.Gained += gained
		}
	}

	slices.SortFunc(s.Workloads, func(a, b WorkloadSummary) int { return cmp.Compare(a.Kind, b.Kind) })
	return s
}

// addWorkload counts a losing object, if it has replicas.
func (s *Summary) addWorkload(d Difference) {
	if !slices.ContainsFunc(d.Lost, func(loss Change) bool { return loss.Replicas != nil }) {
		return
	}
	at := slices.IndexFunc(s.Workloads, func(w WorkloadSummary) bool { return w.Kind == d.Kind })
	if at < 0 {
		at = len(s.Workloads)
		s.Workloads = append(s.Workloads, WorkloadSummary{Kind: d.Kind})
	}
	s.Workloads[at].Objects++
	s.Workloads[at].Replicas += d.replicas()
}
