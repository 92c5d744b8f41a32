// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
)

// StageRank is the stage of the feasible clusters that are not needed.
const StageRank Stage = "Rank"

var rankFilter = &filterPlugin{
	stage: StageRank,
	rejectRanked: func(_ *selection, ranked []Verdict) {
		for i := range ranked {
			if ranked[i].Stage == undecided {
				ranked[i].Stage = StageRank
			}
		}
	},
	text: func(r *reasons, v Verdict, d detail) string {
		if d == allDetails {
			return rankDetails(r.result, v)
		}
		return rankClause(len(r.result.Selected))
	},
}

func rankClause(wanted int) string { return fmt.Sprintf("not needed, %d wanted", wanted) }

// rankDetails compares a cluster with the last selected one.
func rankDetails(r *Result, v Verdict) string {
	// The last selected cluster was selected instead of this cluster.
	last, selected, found := r.lastSelected()

	text := fmt.Sprintf("rank %d of %d, %d wanted", v.Rank, r.Feasible(), selected)
	if !found {
		return text
	}
	spreads := spreadsBefore(r.Spreads, last.Cluster)
	if reason := spreadText(hardConstraints(spreads), v.Cluster, allDetails); reason != "" {
		return text + ", " + reason
	}

	if slices.Compare(domainCounts(spreads, v.Cluster), domainCounts(spreads, last.Cluster)) > 0 {
		return text + ", the spread constraints prefer the domains of " + last.Cluster.Name
	}
	if last.Avoid < v.Avoid {
		return fmt.Sprintf("%s, PreferNoSelect taints not tolerated: %d, %s has %d", text, v.Avoid, last.Cluster.Name, last.Avoid)
	}
	if last.kept && !v.kept {
		return fmt.Sprintf("%s, %s is kept because something of it cannot be read", text, last.Cluster.Name)
	}

	if behind := last.Score - v.Score; behind > 0 {
		return fmt.Sprintf("%s, %d points below %s", text, behind, last.Cluster.Name)
	}
	return fmt.Sprintf("%s, as many points as %s, which comes first by name", text, last.Cluster.Name)
}
