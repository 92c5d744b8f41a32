// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// StageAntiAffinity is the stage of the feasible clusters that may not be selected together with a better one.
const StageAntiAffinity Stage = "AntiAffinity"

var antiAffinityFilter = &filterPlugin{
	stage: StageAntiAffinity,
	reads: func(r *Request, d *inventory.Dependencies) {
		if r.AntiAffinity != nil {
			d.Reads = append(d.Reads, *r.AntiAffinity)
		}
	},
	keep:         keepApart,
	rejectRanked: rejectConflicts,
	text:         antiAffinityText,
}

// noAntiAffinityKey is the Verdict.conflict of a cluster that has no value of the anti-affinity key.
const noAntiAffinityKey = -1

// keepApart returns, in their order, the best of the remaining clusters of each value of the key, so that any of them may be selected
// together; without a key it returns all. It sets the conflict of the others.
//
// Selecting the first clusters of those returned finds as many as possible, because no selection may have two of one value. Spread
// constraints come after: their domains are those of the clusters returned here, and when they forbid the best cluster of a value, no other
// of that value is tried in its place.
func keepApart(r *Request, ranked, remaining []Verdict) []Verdict {
	if r.AntiAffinity == nil {
		return remaining
	}
	var left []Verdict
	first := map[string]int{}

	for _, verdict := range remaining {
		value, found := verdict.Cluster.Value(*r.AntiAffinity)
		switch better := first[value]; {
		case !found:
			ranked[verdict.Rank-1].conflict = noAntiAffinityKey
		case better > 0:
			ranked[verdict.Rank-1].conflict = better
		default:
			first[value] = verdict.Rank
			left = append(left, verdict)
		}
	}

	return left
}

// rejectConflicts rejects the clusters that anti-affinity forbids beside the selected ones, and with room for more clusters all that have a
// conflict.
func rejectConflicts(s *selection, ranked []Verdict) {
	for i := range ranked {
		v := &ranked[i]
		if v.Stage != undecided || v.conflict == 0 {
			continue
		}
		if v.conflict == noAntiAffinityKey || ranked[v.conflict-1].Stage == StageSelected || s.needs(v.Cluster) {
			v.Stage = StageAntiAffinity
		}
	}
}

func antiAffinityText(r *reasons, v Verdict, d detail) string {
	key := *r.result.Request.AntiAffinity
	value, found := v.Cluster.Value(key)
	if !found {
		return fmt.Sprintf("has no %s, which must differ between the selected clusters", key)
	}
	holder := r.result.ranked[v.conflict-1]
	clause, link := fmt.Sprintf("%s=%s is taken", key, value), " by"
	if holder.Stage != StageSelected {
		clause, link = fmt.Sprintf("%s=%s is left to a cluster that is not selected either", key, value), ":"
	}

	if d == allDetails {
		return fmt.Sprintf("%s%s %s, rank %d", clause, link, holder.Cluster.Name, holder.Rank)
	}
	return clause
}
