// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// DeletedReason is the reason of a cluster whose ManagedCluster does not exist.
const DeletedReason = "ManagedCluster is deleted"

// ReasonOf returns the Reason of a cluster by its name, and DeletedReason when the cluster does not exist. It evaluates this cluster alone,
// unless anti-affinity or spread constraints compare it with the others.
func (r *Result) ReasonOf(cluster string) string {
	verdict, found := r.VerdictOf(cluster)
	if !found {
		return DeletedReason
	}
	return r.Reason(verdict)
}

// VerdictOf returns the same as Verdict. It evaluates this cluster alone, and counts the feasible clusters that precede it, unless the selection has
// ranked them.
func (r *Result) VerdictOf(cluster string) (Verdict, bool) {
	info := r.Cluster(cluster)
	if info == nil || r.candidates == nil {
		return Verdict{}, false
	}
	known := r.known()
	if at := slices.IndexFunc(known, func(v Verdict) bool { return v.Cluster == info }); at >= 0 {
		return known[at], true
	}
	if r.isRanked() {
		return r.filterAlone(info), true
	}

	if verdict, feasible := r.candidates.verdictOf(cluster); feasible {
		verdict.Stage = StageRank
		if verdict.Rank <= r.Request.wanted(r.Feasible()) {
			verdict.Stage = StageSelected
		}
		return verdict, true
	}

	return r.filterAlone(info), true
}

// known returns the verdicts of feasible clusters that are known without another evaluation: of all of them if the selection has ranked them, and
// else of the selected ones unless all are selected.
func (r *Result) known() []Verdict {
	switch {
	case r.isRanked():
		return r.ranked
	case r.Request.wanted(r.Feasible()) < r.Feasible():
		return r.Best()
	default:
		return nil
	}
}

// filterAlone returns the verdict of a cluster that is not feasible. A new evaluation keeps its side effects out of this Result.
func (r *Result) filterAlone(info *clusterinfo.ClusterInfo) Verdict {
	return newEvaluation(r.Request, r.snapshot, r.incumbents, r.now).filterCluster(info)
}

// isRanked reports whether the selection depends on more than the order of the clusters.
func (r *Result) isRanked() bool { return r.Request.AntiAffinity != nil || len(r.Request.Spread) > 0 }

// verdictOf returns the verdict of a feasible cluster, which is undecided; false when the cluster is not feasible.
func (c *candidates) verdictOf(cluster string) (Verdict, bool) {
	at, found := c.index(cluster)
	if !found {
		return Verdict{}, false
	}
	order, rank := c.compare(), 1
	for i := range c.clusters {
		if order(i, at) < 0 {
			rank++
		}
	}
	return c.verdict(at, rank), true
}

// verdict returns the undecided verdict of a cluster by its index.
func (c *candidates) verdict(i, rank int) Verdict {
	verdict := Verdict{Cluster: c.clusters[i], Rank: rank, Score: c.totals()[i], candidate: i, taint: -1, kept: c.kept()[i]}
	if avoid := c.avoidCounts(); avoid != nil {
		verdict.Avoid = avoid[i]
	}
	return verdict
}

// lastSelected returns the worst of the selected clusters and their number; false when none is selected. It ranks the clusters only if
// anti-affinity or spread constraints compare them.
func (r *Result) lastSelected() (last Verdict, selected int, found bool) {
	if r.candidates == nil || r.isRanked() {
		best := r.Best()
		if len(best) == 0 {
			return Verdict{}, 0, false
		}
		return best[len(best)-1], len(best), true
	}

	last = r.candidates.last()
	return last, last.Rank, last.Cluster != nil
}

// findLast returns the verdict of last.
func (c *candidates) findLast() Verdict {
	rank := min(c.request.wanted(len(c.clusters)), len(c.clusters))
	if rank == 0 {
		return Verdict{}
	}
	order, top := c.compare(), c.topIndices(rank)
	worst := top[0]
	for _, i := range top {
		if order(i, worst) > 0 {
			worst = i
		}
	}
	return c.verdict(worst, rank)
}

// best returns the verdicts of the clusters that the Request wants, best first.
func (c *candidates) best() []Verdict {
	top := c.topIndices(c.request.wanted(len(c.clusters)))
	slices.SortFunc(top, c.compare())
	best := make([]Verdict, 0, len(top))
	for _, i := range top {
		verdict := c.verdict(i, len(best)+1)
		verdict.Stage = StageSelected
		best = append(best, verdict)
	}
	return best
}

// index returns the index of a feasible cluster.
func (c *candidates) index(cluster string) (int, bool) {
	return slices.BinarySearchFunc(c.clusters, cluster, compareName)
}
