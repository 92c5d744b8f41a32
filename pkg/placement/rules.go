// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/bits-and-blooms/bitset"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// matchRules returns by id the index of the first group rule that each cluster matches, or the number of rules. It evaluates the rules by
// value, so that many rules cost little more than one.
func matchRules(rules []scheduling.GroupRule, clusters []*clusterinfo.ClusterInfo) []int32 {
	matched := slices.Repeat([]int32{int32(len(rules))}, len(clusters))
	idsOf := idsByValue(rules, clusters)
	left := bitset.New(uint(len(clusters)))
	left.FlipRange(0, uint(len(clusters)))

	for n, rule := range rules {
		matching := rule.Selector.MatchByValue(left, idsOf)
		for id := range matching.EachSet() {
			matched[id] = int32(n)
		}
		left.InPlaceDifference(matching)
	}
	return matched
}

// idsByValue returns the ids of the clusters by value for each property that the rules read.
func idsByValue(rules []scheduling.GroupRule, clusters []*clusterinfo.ClusterInfo) func(clusterinfo.Property) map[string][]uint32 {
	byKey := map[clusterinfo.Property]map[string][]uint32{}
	for _, rule := range rules {
		for _, key := range rule.Selector.Reads() {
			byKey[key] = map[string][]uint32{}
		}
	}
	for id, info := range clusters {
		addByValue(byKey, uint32(id), info)
	}
	return func(key clusterinfo.Property) map[string][]uint32 { return byKey[key] }
}

// addByValue adds a cluster under each of the properties that it has, whichever are fewer: the properties or the labels and claims.
func addByValue(byKey map[clusterinfo.Property]map[string][]uint32, id uint32, info *clusterinfo.ClusterInfo) {
	if len(byKey) <= len(info.Labels)+len(info.Claims) {
		for key, ids := range byKey {
			if value, has := info.Value(key); has {
				ids[value] = append(ids[value], id)
			}
		}
		return
	}

	for kind, values := range map[clusterinfo.PropertyKind]map[string]string{clusterinfo.Label: info.Labels, clusterinfo.Claim: info.Claims} {
		for name, value := range values {
			if ids := byKey[clusterinfo.Property{Kind: kind, Name: name}]; ids != nil {
				ids[value] = append(ids[value], id)
			}
		}
	}
}
