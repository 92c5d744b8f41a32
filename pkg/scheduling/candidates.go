package scheduling

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// candidates are the feasible clusters and the inputs of Score. Schedule and Reference fill them in different ways.
type candidates struct {
	request    *Request
	snapshot   *inventory.Snapshot
	incumbents map[string]bool
	now        time.Time
	recorder   Recorder

	// clusters are the feasible clusters, sorted by name; avoid has by name the number of PreferNoSelect taints that are not tolerated.
	clusters []*clusterinfo.ClusterInfo
	avoid    map[string]int
	// available iterates over the clusters in scope that are not terminating, in no particular order.
	available iter.Seq[*clusterinfo.ClusterInfo]
	// decisionCounts returns the number of decisions of other Placements by index in clusters, and the highest such number of any cluster.
	decisionCounts func() (of func(i int) int, highest int)
	// totals returns the total scores by index in clusters.
	totals func() []int64
}

// memoizeTotals computes the total scores when they are first read.
func (c *candidates) memoizeTotals() *candidates {
	c.totals = sync.OnceValue(c.sumScores)

	return c
}

func (c *candidates) sumScores() []int64 {
	totals := make([]int64, len(c.clusters))

	for _, prioritizer := range c.request.Prioritizers {
		step := prioritizer.step()
		c.recorder.Begin(step)

		scores := prioritizer.scores(c)

		c.recorder.End(step)

		for i, score := range scores {
			totals[i] += int64(prioritizer.Weight) * score
		}
	}

	return totals
}

// compare returns the order of two clusters by their index: first those with fewer PreferNoSelect taints that are not tolerated
// (docs/spec/differences.md D1), then those that are kept, then those with the higher score, then by name.
func (c *candidates) compare() func(a, b int) int {
	totals, kept := c.totals(), c.kept()

	return func(a, b int) int {
		if order := cmp.Compare(c.avoidCount(a), c.avoidCount(b)); order != 0 {
			return order
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

func (c *candidates) avoidCount(i int) int {
	if len(c.avoid) == 0 {
		return 0
	}

	return c.avoid[c.clusters[i].Name]
}

// ranked returns the verdicts of all candidates, best first.
func (c *candidates) ranked() []Verdict {
	order := make([]int, len(c.clusters))
	for i := range order {
		order[i] = i
	}

	slices.SortFunc(order, c.compare())

	ranked, kept := make([]Verdict, 0, len(order)), c.kept()

	for _, i := range order {
		f := c.clusters[i]
		ranked = append(ranked, Verdict{
			Cluster: f, Stage: StageRank, Rank: len(ranked) + 1, Score: c.totals()[i], Avoid: c.avoid[f.Name], taint: -1, kept: kept[i],
		})
	}

	return ranked
}

// countExpired counts the expired scores, and calls requeueAfter with the validUntil of each score (docs/spec/differences.md C3).
func (c *candidates) countExpired(requeueAfter func(validUntil time.Time)) (expired int) {
	c.eachScoreSet(func(_ Prioritizer, _ *clusterinfo.ClusterInfo, set clusterinfo.ScoreSet) {
		requeueAfter(set.ValidUntil)

		if set.Expired(c.now) {
			expired++
		}
	})

	return expired
}

func (c *candidates) eachScoreSet(visit func(Prioritizer, *clusterinfo.ClusterInfo, clusterinfo.ScoreSet)) {
	for _, prioritizer := range c.request.Prioritizers {
		if prioritizer.BuiltIn != "" {
			continue
		}

		for _, f := range c.clusters {
			if set, found := f.Scores[prioritizer.Resource]; found {
				visit(prioritizer, f, set)
			}
		}
	}
}

func (c *candidates) warnings() []Warning {
	var warnings []Warning

	c.eachScoreSet(func(p Prioritizer, f *clusterinfo.ClusterInfo, set clusterinfo.ScoreSet) {
		if set.Expired(c.now) {
			warnings = append(warnings, Warning{
				Source: p.Name(), Message: fmt.Sprintf("AddOnPlacementScores %s/%s expired", f.Name, p.Resource),
			})
		}
	})

	slices.SortFunc(warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Message, b.Message))
	})

	return warnings
}
