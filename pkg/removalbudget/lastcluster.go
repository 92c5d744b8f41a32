// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"maps"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// holdLast holds the last cluster of the decisions, where no other one remains or replaces it: one that has left the scope until the hold of the hub
// is over, and one whose only fault is that it is unreachable or unavailable until another cluster can replace it (docs/spec/differences.md B17).
func (c *check) holdLast(r *ruling) {
	if !c.losesLast() || len(r.holds) > 0 {
		return
	}
	incumbents, h := c.there(), hold{Generation: c.generation, Last: true}
	if c.hub.percent < NoLimit {
		c.holdUntil(r, h, c.outside(incumbents))
	}
	if c.Percent < NoLimit && !c.Released {
		tainted := c.result.InfeasibleBy(scheduling.StageTaint, incumbents)
		r.hold(h, slices.DeleteFunc(tainted, func(name string) bool { return !c.isOnlyAway(name) })...)
	}
	lost := len(slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.leaving, r.kept())))))
	for i := range r.holds {
		r.holds[i].Lost, r.holds[i].Of = lost, lost
	}
}

// losesLast reports whether the decisions would lose their last cluster, and the hub keeps it.
func (c *check) losesLast() bool { return c.keepLast && len(c.selected) == 0 && len(c.incumbents) > 0 }

// there returns the clusters in the decisions that are not gone, sorted, also those that have joined and do not count as removed.
func (c *check) there() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.incumbents)), c.isGone)
}

// isGone reports whether a cluster is deleted, or is about to be.
func (c *check) isGone(cluster string) bool {
	info := c.result.Cluster(cluster)
	return info == nil || info.Terminating || Drains(info)
}

// awayTaints are the keys of the taints of clusters that do not report, or report that they are unavailable.
var awayTaints = []string{clusterv1.ManagedClusterTaintUnreachable, clusterv1.ManagedClusterTaintUnavailable}

// isOnlyAway reports whether all taints of a cluster that are not tolerated follow from its availability.
func (c *check) isOnlyAway(cluster string) bool {
	return !slices.ContainsFunc(c.result.Tolerances(c.result.Cluster(cluster)), func(t scheduling.Tolerance) bool {
		return !t.Tolerated && t.Taint.Effect != clusterv1.TaintEffectPreferNoSelect && !slices.Contains(awayTaints, t.Taint.Key)
	})
}

// leavingBySpec returns the clusters that a changed spec excludes, if it is not known which ones the former spec would have lost: all that are not
// selected, but for those that have left the scope, are deleted or have a taint. It is empty otherwise.
func (c *check) leavingBySpec() map[string]bool {
	if !c.doubtful {
		return nil
	}
	leaving := maps.Clone(c.past)
	maps.DeleteFunc(leaving, func(cluster string, _ bool) bool { return c.selected[cluster] })
	lost := slices.Sorted(maps.Keys(leaving))
	for _, cluster := range slices.Concat(
		c.outside(lost), c.result.InfeasibleBy(scheduling.StageTaint, lost), c.result.InfeasibleBy(scheduling.StageTerminating, lost),
	) {
		delete(leaving, cluster)
	}
	return leaving
}
