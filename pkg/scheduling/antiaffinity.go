package scheduling

import (
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// noAntiAffinityKey is the Verdict.conflict of a cluster that has no value of the anti-affinity key.
const noAntiAffinityKey = -1

// filterAntiAffinity returns, in their order, the best ranked cluster of each value of the key, so that any of them may be selected
// together; without a key it returns all. It sets the conflict of the others.
//
// Selecting the first clusters of those returned finds as many as possible, because no selection may have two of one value. Spread
// constraints come after: their domains are those of the clusters returned here, and when they forbid the best cluster of a value, no other
// of that value is tried in its place.
func filterAntiAffinity(key *clusterinfo.Property, ranked []Verdict) []Verdict {
	if key == nil {
		return ranked
	}

	var left []Verdict

	first := map[string]int{}

	for i, verdict := range ranked {
		value, found := verdict.Cluster.Value(*key)

		switch better := first[value]; {
		case !found:
			ranked[i].conflict = noAntiAffinityKey
		case better > 0:
			ranked[i].conflict = better
		default:
			first[value] = verdict.Rank
			left = append(left, verdict)
		}
	}

	return left
}

// antiAffinityClause returns why anti-affinity rejects a feasible cluster.
func antiAffinityClause(key clusterinfo.Property, v Verdict, feasible []Verdict) string {
	value, found := v.Cluster.Value(key)

	switch {
	case !found:
		return fmt.Sprintf("has no %s, which must differ between the selected clusters", key)
	case feasible[v.conflict-1].Stage != StageSelected:
		return fmt.Sprintf("%s=%s is left to a cluster that is not selected either", key, value)
	default:
		return fmt.Sprintf("%s=%s is taken", key, value)
	}
}

func antiAffinityReason(key clusterinfo.Property, v Verdict, feasible []Verdict) string {
	clause := antiAffinityClause(key, v, feasible)
	if v.conflict == noAntiAffinityKey {
		return clause
	}

	holder := feasible[v.conflict-1]
	link := " by"

	if holder.Stage != StageSelected {
		link = ":"
	}

	return fmt.Sprintf("%s%s %s, rank %d", clause, link, holder.Cluster.Name, holder.Rank)
}
