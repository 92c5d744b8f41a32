// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// wanted returns the number of clusters to select from that many feasible ones.
func (r *Request) wanted(feasible int) int {
	if r.Wanted == nil {
		return feasible
	}
	return int(*r.Wanted)
}

// selectRanked selects as many of the ranked clusters as are wanted and as anti-affinity and spread constraints allow, and returns their
// indices, best first.
func (e *evaluation) selectRanked(c *candidates, ranked []Verdict) []int {
	left := ranked
	for _, plugin := range filterPlugins {
		if plugin.keep != nil {
			left = plugin.keep(e.request, ranked, left)
		}
	}
	wanted := e.request.wanted(len(ranked))

	taken, spreads := selectSpread(e.request.Spread, c.domains, left, min(wanted, len(left)))
	e.result.Spreads = spreads
	e.countMissing(wanted, len(taken))
	chosen := make([]int, 0, len(taken))
	for _, i := range taken {
		chosen = append(chosen, left[i].Rank-1)
	}
	return chosen
}

// rankAndSelect ranks the candidates and selects among them; chosen are the indices of the selected clusters, best first. The other
// verdicts are undecided until recordRejections.
func (e *evaluation) rankAndSelect(c *candidates) (ranked []Verdict, chosen []int) {
	ranked = c.ranked()
	chosen = e.selectRanked(c, ranked)
	for _, i := range chosen {
		ranked[i].Stage = StageSelected
		e.result.Selected = append(e.result.Selected, ranked[i].Cluster)
	}
	e.result.ranked = ranked
	slices.SortFunc(e.result.Selected, func(a, b *clusterinfo.ClusterInfo) int { return cmp.Compare(a.Name, b.Name) })
	return ranked, chosen
}

// verdictsAt returns the verdicts with these indices.
func verdictsAt(ranked []Verdict, indices []int) []Verdict {
	verdicts := make([]Verdict, 0, len(indices))
	for _, i := range indices {
		verdicts = append(verdicts, ranked[i])
	}
	return verdicts
}

// recordRejections sets the stage of every ranked cluster that was not selected. With room for more clusters, a constraint rejected it.
// Without room it was not needed, unless anti-affinity forbids it beside the selected clusters.
func (e *evaluation) recordRejections(ranked []Verdict) {
	selected := &selection{spreads: e.result.Spreads, room: len(e.result.Selected) < e.request.wanted(len(ranked))}
	for _, plugin := range filterPlugins {
		if plugin.rejectRanked != nil {
			plugin.rejectRanked(selected, ranked)
		}
	}
}

func (e *evaluation) countMissing(wanted, taken int) {
	if e.request.Wanted != nil {
		e.result.Unscheduled = wanted - taken
	}
}

// selectFast selects without verdicts. It ranks all candidates only for anti-affinity and spread constraints.
func (e *evaluation) selectFast(c *candidates) {
	if e.result.isRanked() {
		ranked, chosen := e.rankAndSelect(c)
		e.recordRejections(ranked)
		for i := range ranked {
			e.result.stages[ranked[i].Stage]++
		}
		e.result.best = sync.OnceValue(func() []Verdict { return verdictsAt(ranked, chosen) })
		return
	}
	wanted := e.request.wanted(len(c.clusters))
	e.result.Selected = c.clusters
	if wanted < len(c.clusters) {
		e.result.Selected = c.top(wanted)
	}

	e.countMissing(wanted, len(e.result.Selected))
	e.result.stages.add(StageSelected, len(e.result.Selected))
	e.result.stages.add(StageRank, len(c.clusters)-len(e.result.Selected))
}

// top returns the best clusters, sorted by name.
func (c *candidates) top(wanted int) []*clusterinfo.ClusterInfo {
	top := make([]*clusterinfo.ClusterInfo, 0, wanted)
	for _, i := range c.topIndices(wanted) {
		top = append(top, c.clusters[i])
	}
	return top
}

// topIndices returns the indices of the best clusters, sorted.
func (c *candidates) topIndices(wanted int) []int {
	kept := &worstFirst{better: c.compare()}
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
	return kept.indices
}

// worstFirst is a heap of indices with the worst index on top.
type worstFirst struct {
	indices []int
	better  func(a, b int) int
}

func (w *worstFirst) Len() int           { return len(w.indices) }
func (w *worstFirst) Less(a, b int) bool { return w.better(w.indices[a], w.indices[b]) > 0 }
func (w *worstFirst) Swap(a, b int)      { w.indices[a], w.indices[b] = w.indices[b], w.indices[a] }

// Push appends an index.
func (w *worstFirst) Push(index any) {
	if i, ok := index.(int); ok {
		w.indices = append(w.indices, i)
	}
}

// Pop removes and returns the last index.
func (w *worstFirst) Pop() any {
	last := len(w.indices) - 1
	popped := w.indices[last]
	w.indices = w.indices[:last]
	return popped
}
