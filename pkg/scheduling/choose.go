package scheduling

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// wanted is how many clusters are to be taken of so many feasible ones.
func (r *Request) wanted(feasible int) int {
	if r.Wanted == nil {
		return feasible
	}

	return int(*r.Wanted)
}

// take takes as many of the ranked clusters as are wanted, within what anti-affinity and spread constraints allow, and returns their
// indices, best first.
func (e *evaluation) take(ranked []Verdict) []int {
	candidates := keepApart(e.request.AntiAffinity, ranked)
	wanted := e.request.wanted(len(ranked))

	taken, spreads := spreadOut(e.request.Spread, candidates, min(wanted, len(candidates)))
	e.result.Spreads = spreads
	e.countMissing(wanted, len(taken))

	chosen := make([]int, 0, len(taken))
	for _, i := range taken {
		chosen = append(chosen, candidates[i].Rank-1)
	}

	return chosen
}

// settle ranks the feasible clusters and takes of them what is to be selected; chosen are the indices of those, best first. What kept out
// the others is not said yet.
func (e *evaluation) settle(field *candidates) (ranked []Verdict, chosen []int) {
	ranked = field.ranked()
	chosen = e.take(ranked)

	for _, i := range chosen {
		ranked[i].Stage = StageSelected
		e.result.Selected = append(e.result.Selected, ranked[i].Cluster)
	}

	slices.SortFunc(e.result.Selected, func(a, b *clusterinfo.ClusterInfo) int { return cmp.Compare(a.Name, b.Name) })

	return ranked, chosen
}

// keepOut says of the ranked clusters that were not selected what kept them out.
func (e *evaluation) keepOut(ranked []Verdict) {
	room := len(e.result.Selected) < e.request.wanted(len(ranked))

	for i, verdict := range ranked {
		if verdict.Stage != StageSelected {
			ranked[i].Stage = keptOut(verdict, ranked, room || outside(e.result.Spreads, verdict.Cluster))
		}
	}
}

// keptOut is the stage that kept out a feasible cluster that was not selected. When there was room for more, or it could not be taken
// however much room there is, something forbids it; otherwise it was not needed, unless it could not have been taken beside those that were.
func keptOut(v Verdict, ranked []Verdict, room bool) Stage {
	switch {
	case v.apart == withoutKey:
		return StageAntiAffinity
	case v.apart != 0 && (room || ranked[v.apart-1].Stage == StageSelected):
		return StageAntiAffinity
	case room:
		return StageSpread
	default:
		return StageRank
	}
}

func (e *evaluation) countMissing(wanted, taken int) {
	if e.request.Wanted != nil {
		e.result.Unscheduled = wanted - taken
	}
}

// pick is choose without the verdicts: where nothing depends on the ranks of all, they are not found.
func (e *evaluation) pick(field *candidates) {
	if e.request.AntiAffinity != nil || len(e.request.Spread) > 0 {
		e.ranked, _ = e.settle(field)
		e.keepOut(e.ranked)

		for i := range e.ranked {
			e.result.stages[e.ranked[i].Stage]++
		}

		return
	}

	wanted := e.request.wanted(len(field.clusters))
	e.result.Selected = field.clusters

	if wanted < len(field.clusters) {
		e.result.Selected = field.top(wanted)
	}

	e.countMissing(wanted, len(e.result.Selected))
	e.result.stages[StageSelected] = len(e.result.Selected)
	e.result.stages[StageRank] = len(field.clusters) - len(e.result.Selected)
}

// top are the best clusters, sorted by name.
func (c *candidates) top(wanted int) []*clusterinfo.ClusterInfo {
	kept := &worstFirst{better: c.better()}

	for i := range c.clusters {
		switch {
		case len(kept.indices) < wanted:
			heap.Push(kept, i)
		case wanted > 0 && kept.better(i, kept.indices[0]) < 0:
			kept.indices[0] = i
			heap.Fix(kept, 0)
		}
	}

	slices.Sort(kept.indices)

	top := make([]*clusterinfo.ClusterInfo, 0, wanted)
	for _, i := range kept.indices {
		top = append(top, c.clusters[i])
	}

	return top
}

// worstFirst is a heap of indices with the worst one on top.
type worstFirst struct {
	indices []int
	better  func(a, b int) int
}

func (h *worstFirst) Len() int           { return len(h.indices) }
func (h *worstFirst) Less(a, b int) bool { return h.better(h.indices[a], h.indices[b]) > 0 }
func (h *worstFirst) Swap(a, b int)      { h.indices[a], h.indices[b] = h.indices[b], h.indices[a] }

// Push appends an index.
func (h *worstFirst) Push(index any) {
	if i, ok := index.(int); ok {
		h.indices = append(h.indices, i)
	}
}

// Pop takes the last index off.
func (h *worstFirst) Pop() any {
	last := len(h.indices) - 1
	popped := h.indices[last]
	h.indices = h.indices[:last]

	return popped
}
