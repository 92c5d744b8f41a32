// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"github.com/bits-and-blooms/bitset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// MatchByValue returns the candidates that match all clauses but the CEL expressions. The function idsOf returns the ids of the candidates
// by their value of a property of Reads; ids of other clusters are ignored. The cost of a clause does not depend on the clusters that lack
// its property, apart from a few operations on sets. The caller owns the result.
func (s *Selector) MatchByValue(candidates *bitset.BitSet, idsOf func(clusterinfo.Property) map[string][]uint32) *bitset.BitSet {
	matching := candidates.Clone()
	differing := bitset.New(candidates.Len()) // The clusters for which a clause is not what it is for a cluster without the property.
	for i := range s.requirements {
		r := &s.requirements[i]
		absent := r.matchesValue("", false)
		differing.ClearAll()
		r.eachDiffering(idsOf(r.key), absent, func(ids []uint32) {
			for _, id := range ids {
				differing.Set(uint(id))
			}
		})

		if absent {
			matching.InPlaceDifference(differing)
		} else {
			matching.InPlaceIntersection(differing)
		}
		if matching.None() {
			break
		}
	}

	return matching
}

// eachDiffering visits the ids of the values for which the result is not that of an absent one.
func (r *requirement) eachDiffering(byValue map[string][]uint32, absent bool, visit func(ids []uint32)) {
	if r.operator == metav1.LabelSelectorOpIn || r.operator == metav1.LabelSelectorOpNotIn {
		for _, value := range r.values {
			visit(byValue[value])
		}
		return
	}

	for value, ids := range byValue {
		if r.matchesValue(value, true) != absent {
			visit(ids)
		}
	}
}
