// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// holdEarlier holds the clusters that were held before the spec was changed, until that hold would have ended without the change. What the present
// spec says of them does not count (docs/spec/differences.md B16). A cluster that has left the scope meanwhile is held for that alone, as long as
// the hub permits.
func (c *check) holdEarlier(r *ruling) {
	holds := c.earlierHolds()
	lost, again, over := make([][]string, len(holds)), map[numbers]int{}, map[numbers]int{}
	for i, h := range holds {
		lost[i] = slices.DeleteFunc(c.incumbentsOf(h), func(cluster string) bool { return c.hasEnded(h, cluster) })
		again[h.numbers()] += max(0, len(h.Clusters)-len(lost[i]))
		if h.Until != nil && !c.now.Before(h.until()) {
			over[h.numbers()] += len(lost[i])
		}
	}

	for i, h := range holds {
		kept := r.kept()
		staying := slices.DeleteFunc(slices.Clone(lost[i]), func(cluster string) bool { return contains(kept, cluster) })
		if len(staying) == 0 {
			continue
		}
		removal := h.numbers()
		if !c.doubtful {
			h.Lost -= again[removal] // They fit again, or do not count.
		}
		h = h.without(over[removal])
		h.Unnamed = 0
		c.holdOn(r, h, staying, len(lost[i]))
	}
}

// holdOn has a hold of an earlier spec go on for the clusters that stay, of those that are lost.
func (c *check) holdOn(r *ruling, h hold, staying []string, lost int) {
	goOn := func(h hold, clusters []string) {
		if held, until := c.stillHolds(h, lost); held && len(clusters) > 0 {
			r.past = max(r.past, min(h.Past, len(c.gone())))
			r.hold(h, clusters...)
			r.lookAt(until)
		}
	}
	if h.Until != nil || c.replaces(h) {
		goOn(h, staying)
		return
	}

	// The sets that the present spec asks for do not count.
	outside := c.result.Unbound(staying)
	goOn(h, slices.DeleteFunc(staying, func(cluster string) bool { return contains(outside, cluster) }))
	r.outside = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.outside, outside))))
	for until, clusters := range c.byScopeEnd(outside) {
		h.Cause, h.Until = "", &metav1.Time{Time: until}
		goOn(h, clusters)
	}
}

// hasEnded reports whether a cluster of a hold is not lost any more without the change of the spec, or leaves at once. Whether it still is lost to
// what the former spec says is not known, so that it is not ended.
func (c *check) hasEnded(h hold, cluster string) bool {
	info := c.result.Cluster(cluster)
	switch {
	case c.selected[cluster], Drains(info):
		return true
	case h.Last && h.Until == nil:
		return !c.isAway(cluster)
	case h.Last:
		return c.isGone(cluster)
	case info == nil, info.Terminating, isTainted(info):
		return false
	case h.Cause == scheduling.StageTerminating: // It is there again. Its labels may not be.
		return c.result.IsFeasible(cluster)
	default:
		return h.Cause == scheduling.StageTaint
	}
}

// isAway reports whether a cluster exists that is unreachable or unavailable, and has no other fault.
func (c *check) isAway(cluster string) bool {
	return !c.isGone(cluster) && c.isOnlyAway(cluster) && slices.ContainsFunc(c.result.Cluster(cluster).Taints, func(taint clusterv1.Taint) bool {
		return slices.Contains(awayTaints, taint.Key) && taint.Effect == clusterv1.TaintEffectNoSelect
	})
}

// isTainted reports whether a cluster has a taint that the former spec may not have tolerated.
func isTainted(info *clusterinfo.ClusterInfo) bool {
	return slices.ContainsFunc(info.Taints, func(taint clusterv1.Taint) bool { return taint.Effect == clusterv1.TaintEffectNoSelect })
}

// earlierHolds returns the holds that began under an earlier spec. Without a record of them, as after an upgrade of the hub, all clusters count as
// held if clusters are held.
func (c *check) earlierHolds() []hold {
	var earlier []hold
	for _, h := range c.memory.Held {
		if c.doubtful || h.Generation != c.generation {
			earlier = append(earlier, h)
		}
	}
	if !c.doubtful || len(c.memory.Held) > 0 || c.condition == nil || c.condition.Status != metav1.ConditionTrue {
		return earlier
	}
	unnamed := hold{Generation: c.generation, Lost: len(c.incumbents), Of: len(c.incumbents), Unnamed: len(c.incumbents)}
	if !c.hub.until.IsZero() {
		unnamed.Until = &metav1.Time{Time: c.hub.until}
	}
	return append(earlier, unnamed)
}

// incumbentsOf returns the clusters of a hold that are in the decisions, sorted. If the hold does not know all names, each of them may be held.
func (c *check) incumbentsOf(h hold) []string {
	if h.Unnamed > 0 {
		return slices.Sorted(maps.Keys(c.incumbents))
	}
	return slices.DeleteFunc(slices.Clone(h.Clusters), func(cluster string) bool { return !c.incumbents[cluster] })
}

// stillHolds reports whether a hold of an earlier spec goes on for a number of clusters, and when it can end without an event.
func (c *check) stillHolds(h hold, staying int) (held bool, until time.Time) {
	limit := c.Budget
	switch {
	case h.Until != nil:
		limit = c.own()
	case c.Released:
		return false, time.Time{}
	}
	if limit.Percent >= NoLimit || h.Until != nil && !c.now.Before(h.until()) || c.replaces(h) {
		return false, time.Time{}
	}
	if h.Last {
		return true, h.until()
	}

	gone := c.gone()
	for i := range len(gone) + 1 {
		past := len(gone) - i
		count := Count{Past: past, Now: max(h.Lost, staying), Total: max(h.Of, staying) + past}
		switch {
		case count.Exceeds(limit.Percent):
		case i == 0:
			return false, time.Time{}
		default:
			return true, earliest(h.until(), gone[i-1].Add(Window))
		}
	}
	return true, h.until()
}

// gone returns the times at which clusters have left that are not in the decisions, the earliest first.
func (c *check) gone() []time.Time {
	var gone []time.Time
	for cluster, at := range c.left.Clusters {
		if !c.incumbents[cluster] {
			gone = append(gone, at)
		}
	}
	for _, others := range c.left.Others {
		gone = append(gone, slices.Repeat([]time.Time{others.At}, others.Count)...)
	}
	slices.SortFunc(gone, time.Time.Compare)
	return gone
}

// replaces reports whether the selected clusters replace a last one that is held only until then.
func (c *check) replaces(h hold) bool { return h.Last && h.Until == nil && len(c.selected) > 0 }
