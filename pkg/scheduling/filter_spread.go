// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// StageSpread is the stage of the feasible clusters that a hard spread constraint forbids. The constraints are applied by the selection
// itself, see selectSpread.
const StageSpread Stage = "Spread"

var spreadFilter = &filterPlugin{
	stage: StageSpread,
	reads: func(r *Request, d *inventory.Dependencies) {
		for _, constraint := range r.Spread {
			d.Reads = append(d.Reads, constraint.Key)
		}
	},
	rejectRanked: func(s *selection, ranked []Verdict) {
		for i := range ranked {
			if ranked[i].Stage == undecided && s.needs(ranked[i].Cluster) {
				ranked[i].Stage = StageSpread
			}
		}
	},
	text: func(r *reasons, v Verdict, d detail) string { return spreadText(r.hard, v.Cluster, d) },
}

// spreadText returns why the first of the constraints that forbids another cluster does so; empty when none does.
func spreadText(constraints []hardConstraint, info *clusterinfo.ClusterInfo, d detail) string {
	for _, by := range constraints {
		if text := by.text(info, d); text != "" {
			return text
		}
	}
	return ""
}

// text returns why the constraint forbids another cluster; empty when it does not.
func (h hardConstraint) text(info *clusterinfo.ClusterInfo, d detail) string {
	domain, found := h.Constraint.domain(info)
	switch {
	case !found:
		return fmt.Sprintf("has no %s, over which the clusters must be spread", h.Constraint.Key)
	case h.Selected[domain]+1-h.Selected[h.fewest] <= h.Constraint.MaxSkew:
		return ""
	}

	clause := fmt.Sprintf("%s %s is full", h.Constraint.Key, domain)
	if d == allDetails {
		return fmt.Sprintf("%s: it has %d selected clusters, %s has %d, and %d more are allowed",
			clause, h.Selected[domain], h.fewest, h.Selected[h.fewest], h.Constraint.MaxSkew)
	}
	return clause
}
