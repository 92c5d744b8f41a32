// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// candidates are the feasible clusters and the inputs of Score. Schedule and Reference fill them in different ways.
type candidates struct {
	request    *Request
	snapshot   *inventory.Snapshot
	incumbents Incumbents
	now        time.Time
	recorder   Recorder

	// clusters are the feasible clusters, sorted by name; avoid has by name the number of PreferNoSelect taints that are not tolerated, and
	// avoidCounts returns it by index in clusters, nil if there is none.
	clusters    []*clusterinfo.ClusterInfo
	avoid       map[string]int
	avoidCounts func() []int
	// kept returns the indices of the feasible incumbents whose score may be wrong because a field could not be decoded; nil without any. Such a
	// cluster precedes the others, so that it is not removed for an unreadable field.
	kept func() map[int]bool
	// available iterates over the clusters in scope that are not terminating, in no particular order.
	available iter.Seq[*clusterinfo.ClusterInfo]
	// shared returns the scores of all candidates that find computes, from those of other Requests if there are any. The scores depend on the
	// clusters and on what they are about alone.
	shared func(about string, find func() []int64) []int64
	// domains returns the values of a key of all candidates, from those of other Requests if there are any.
	domains func(key clusterinfo.Property) *domains
	// decisionCounts returns the number of decisions of other Placements by index in clusters, and the highest such number of any cluster.
	decisionCounts func() (of func(i int) int, highest int)
	// totals returns the total scores by index in clusters.
	totals func() []int64
	// last returns the undecided verdict of the worst cluster that the Request wants; it has no cluster if it wants none.
	last func() Verdict
}

// compare returns the order of two clusters by their index: first those with fewer PreferNoSelect taints that are not tolerated
// (docs/spec/differences.md D1), then those that are kept, then those with the higher score, then by name.
func (c *candidates) compare() func(a, b int) int {
	totals, kept, avoid := c.totals(), c.kept(), c.avoidCounts()
	return func(a, b int) int {
		if len(avoid) > 0 && avoid[a] != avoid[b] {
			return cmp.Compare(avoid[a], avoid[b])
		}
		if kept[a] != kept[b] {
			if kept[a] {
				return -1
			}
			return 1
		}

		if order := cmp.Compare(totals[b], totals[a]); order != 0 {
			return order
		}
		return cmp.Compare(a, b)
	}
}

func (c *candidates) findAvoidCounts() []int {
	if len(c.avoid) == 0 {
		return nil
	}
	counts := make([]int, len(c.clusters))
	for name, count := range c.avoid {
		if i, feasible := c.index(name); feasible {
			counts[i] = count
		}
	}
	return counts
}

// ranked returns the verdicts of all candidates, best first and undecided.
func (c *candidates) ranked() []Verdict {
	order := make([]int, len(c.clusters))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, c.compare())
	ranked := make([]Verdict, 0, len(order))
	for _, i := range order {
		ranked = append(ranked, c.verdict(i, len(ranked)+1))
	}
	return ranked
}

func (c *candidates) findKept() map[int]bool {
	var kept map[int]bool
	for id := range c.snapshot.AllUnreadable() {
		info := c.snapshot.ClusterInfo(id)
		i, feasible := c.index(info.Name)
		if !feasible || !c.incumbents.prefers(info.Name) || len(c.unreadable(info)) == 0 {
			continue
		}
		if kept == nil {
			kept = map[int]bool{}
		}
		kept[i] = true
	}
	return kept
}

// unreadable returns the fields that could not be decoded of the cluster and of the scores that the prioritizers read.
func (c *candidates) unreadable(info *clusterinfo.ClusterInfo) unreadable.Fields {
	fields := info.Unreadable
	for _, prioritizer := range c.request.Prioritizers {
		if prioritizer.isAddOn() {
			fields = append(slices.Clip(fields), info.Scores[prioritizer.Resource].Unreadable...)
		}
	}
	return fields
}
