package inventory

// NamespaceDecisionCounts counts how often each cluster stands in decisions of the other placements of the placement's namespace, of every API.
// PlacementDecisions that name no placement do not count.
func (s *Snapshot) NamespaceDecisionCounts(key PlacementKey) map[string]int {
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

// DecisionCounts counts how often each cluster stands in decisions other than those of the given placement, by looking at all of them. Load has
// the same counts at once.
func (s *Snapshot) DecisionCounts(key PlacementKey) map[string]int {
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

// CountsOfOthers is how often clusters stand in decisions other than those of a placement.
type CountsOfOthers struct {
	// Highest is the greatest count of any name of a cluster, whether or not it exists.
	Highest int

	totals frozen[int32]
	own    map[uint]int32
}

// Of is the count of a cluster by its number.
func (l CountsOfOthers) Of(id uint) int { return int(l.totals.get(id) - l.own[id]) }

// CountsOfOthers is the load of the clusters without what a placement puts on them itself.
func (s *Snapshot) CountsOfOthers(key PlacementKey) CountsOfOthers {
	load := CountsOfOthers{totals: s.totals, own: map[uint]int32{}}
	pages, _ := s.pages.Get([]byte(ownerName(key)))

	for _, p := range pages {
		for _, id := range p.ids {
			load.own[uint(id)]++
		}
	}

	// The highest count is that of a cluster with own decisions, or the highest total that another one has.
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
