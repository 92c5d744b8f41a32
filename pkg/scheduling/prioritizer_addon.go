// SPDX-License-Identifier: Apache-2.0

package scheduling

import "github.com/placement-hub/placement-hub/pkg/clusterinfo"

// addOnPrioritizer has all AddOnPlacementScores. They share one name in metrics, because theirs are arbitrary. The user is warned of expired
// scores, even of those that do not affect the selection (docs/spec/differences.md C3).
var addOnPrioritizer = &prioritizerPlugin{
	name: "AddOn",
	reads: func(p Prioritizer) []clusterinfo.Property {
		return []clusterinfo.Property{{Kind: clusterinfo.Score, Name: p.Resource}}
	},
	warns:  true,
	scores: (*candidates).addOn,
}

// addOn returns the reported scores, clamped to the range that the CRD of AddOnPlacementScore allows. An absent object or entry counts as
// 0, and so does an expired one (docs/spec/differences.md C3).
func (c *candidates) addOn(p Prioritizer) []int64 {
	scores := make([]int64, len(c.clusters))
	for i, info := range c.clusters {
		if set, found := info.Scores[p.Resource]; found && !set.Expired(c.now) {
			scores[i] = max(minScore, min(int64(set.Values[p.Score]), maxScore))
		}
	}
	return scores
}
