// SPDX-License-Identifier: Apache-2.0

package inventory

// NamespaceDecisionCounts returns the number of decisions per cluster name of the other placements in the namespace of the placement, of
// every API. It ignores PlacementDecisions that name no placement.
func (s *Snapshot) NamespaceDecisionCounts(key Key) map[string]int {
	counts := map[string]int{}
	s.pages.Root().WalkPrefix([]byte(ownersIn(key.Namespace)), func(_ []byte, pages []*page) bool {
		for _, p := range pages {
			if p.owner != key && p.owner.Name != "" {
				s.countInto(counts, p)
			}
		}
		return false
	})
	return counts
}

// DecisionCounts returns the number of decisions per cluster name of all other placements. It visits every page; CountsOfOthers returns the
// same counts from the totals.
func (s *Snapshot) DecisionCounts(key Key) map[string]int {
	counts := map[string]int{}
	s.pages.Root().Walk(func(_ []byte, pages []*page) bool {
		for _, p := range pages {
			if p.owner != key {
				s.countInto(counts, p)
			}
		}
		return false
	})
	return counts
}

func (s *Snapshot) countInto(counts map[string]int, p *page) {
	for _, id := range p.ids {
		counts[s.names.get(uint(id))]++
	}
}

// CountsOfOthers has the number of decisions per cluster of all placements but one.
type CountsOfOthers struct {
	// Highest is the highest count of any cluster name, whether or not the cluster exists.
	Highest int

	totals frozen[int32]
	own    map[uint]int32
}

// Of returns the count of a cluster by its id.
func (c CountsOfOthers) Of(id uint) int { return int(c.totals.get(id) - c.own[id]) }

// CountsOfOthers returns the number of decisions per cluster without those of the placement. It costs as much as the placement has
// decisions.
func (s *Snapshot) CountsOfOthers(key Key) CountsOfOthers {
	load := CountsOfOthers{totals: s.totals, own: map[uint]int32{}}
	pages, _ := s.pages.Get([]byte(ownerName(key)))
	for _, p := range pages {
		for _, id := range p.ids {
			load.own[uint(id)]++
		}
	}

	// The highest count is that of a cluster with own decisions, or the highest total of any other cluster.
	withOwn := map[int32]int32{}
	for id := range load.own {
		withOwn[s.totals.get(id)]++
		load.Highest = max(load.Highest, load.Of(id))
	}
	for total := s.highest; total > int32(load.Highest); total-- {
		if s.frequencies.get(uint(total)) > withOwn[total] {
			load.Highest = int(total)
		}
	}
	return load
}
