// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"iter"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

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

// addOn returns the reported scores. An absent object or entry and an expired one have the missingScore (docs/spec/differences.md C3).
func (c *candidates) addOn(p Prioritizer) iter.Seq2[int, int64] {
	missing := c.request.missingScore(p)
	return func(yield func(int, int64) bool) {
		for i, info := range c.clusters {
			score, valid := addOnScore(p, info, c.now)
			if !valid {
				score = missing
			}
			if !yield(i, score) {
				return
			}
		}
	}
}

// addOnScore returns the reported score of a cluster, clamped to the range that the CRD of AddOnPlacementScore allows, and whether the cluster
// has a valid one.
func addOnScore(p Prioritizer, info *clusterinfo.ClusterInfo, now time.Time) (score int64, valid bool) {
	set, found := info.Scores[p.Resource]
	if !found || set.Expired(now) {
		return 0, false
	}
	value, has := set.Values[p.Score]
	return max(minScore, min(int64(value), maxScore)), has
}
