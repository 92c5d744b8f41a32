// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Reference returns the same Result as Schedule, but evaluates every cluster one after the other. It computes all verdicts at once.
func Reference(request *Request, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time) *Result {
	counted := func(c *candidates) (func(i int) int, int) {
		counts := snapshot.DecisionCounts(request.Key)
		highest := 0
		for _, count := range counts {
			highest = max(highest, count)
		}
		return func(i int) int { return counts[c.clusters[i].Name] }, highest
	}
	return incumbents.scheduleFor(func(incumbents Incumbents) *Result { return evaluateAll(request, snapshot, incumbents, now, counted) })
}

// evaluateAll is Reference with a function for the decisionCounts of the candidates.
func evaluateAll(
	request *Request, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time,
	decisionCounts func(c *candidates) (of func(i int) int, highest int),
) *Result {
	e := newEvaluation(request, snapshot, incumbents, now)
	if e.result.Outcome() != Decided {
		return e.result
	}
	verdicts := e.filterAll()
	if e.ended() {
		return e.endedResult()
	}

	c := e.newCandidates()
	c.available = availableOf(verdicts)
	c.decisionCounts = func() (func(i int) int, int) { return decisionCounts(c) }

	for _, verdict := range verdicts {
		if verdict.Stage == undecided {
			c.clusters = append(c.clusters, verdict.Cluster)
		}
		if verdict.Avoid > 0 {
			c.avoid[verdict.Cluster.Name] = verdict.Avoid
		}
	}
	e.result.Expired = c.countExpired(e.evalContext.RequeueAfterExpiry)

	found := &details{verdicts: verdicts, prioritizers: c.prioritizers()}
	e.selectWithReasons(c, found)
	e.result.details = func() *details { return found }
	e.result.RequeueAt = e.requeueAt()
	return e.result
}

// filterAll filters every cluster.
func (e *evaluation) filterAll() []Verdict {
	clusters := e.snapshot.Clusters()
	verdicts := make([]Verdict, 0, len(clusters))
	for _, info := range clusters {
		verdict := e.filterCluster(info)
		if verdict.Stage != StageScope && verdict.Stage != StageTerminating {
			e.result.Available++
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts
}

// filterCluster returns the Verdict of the first filter that rejects the cluster. A feasible cluster is undecided.
func (e *evaluation) filterCluster(info *clusterinfo.ClusterInfo) Verdict {
	verdict := Verdict{Cluster: info, taint: -1}
	for _, plugin := range filterPlugins {
		if plugin.rejects != nil && plugin.rejects(e, info, &verdict) {
			verdict.Stage = plugin.stage
			break
		}
	}
	return verdict
}

func availableOf(verdicts []Verdict) iter.Seq[*clusterinfo.ClusterInfo] {
	return func(yield func(*clusterinfo.ClusterInfo) bool) {
		for _, verdict := range verdicts {
			if verdict.Stage != StageScope && verdict.Stage != StageTerminating && !yield(verdict.Cluster) {
				return
			}
		}
	}
}

// prioritizers returns the scores of each prioritizer by the name of the cluster.
func (c *candidates) prioritizers() []PrioritizerScores {
	scores := make([]PrioritizerScores, 0, len(c.request.Prioritizers))
	for _, prioritizer := range c.request.Prioritizers {
		byName := make(map[string]int64, len(c.clusters))
		plugin := prioritizer.plugin()
		for _, info := range c.clusters {
			if plugin.hasScore == nil || plugin.hasScore(info) {
				byName[info.Name] = 0
			}
		}
		for i, score := range plugin.scores(c, prioritizer) {
			if _, has := byName[c.clusters[i].Name]; has {
				byName[c.clusters[i].Name] = score
			}
		}
		scores = append(scores, PrioritizerScores{Prioritizer: prioritizer, Scores: byName})
	}

	return scores
}

// selectWithReasons selects among the candidates, and records the verdict of each of them.
func (e *evaluation) selectWithReasons(c *candidates, found *details) {
	ranked, chosen := e.rankAndSelect(c)
	e.recordRejections(ranked)
	found.best = verdictsAt(ranked, chosen)
	for i, verdict := range ranked {
		at, _ := slices.BinarySearchFunc(found.verdicts, verdict.Cluster.Name, func(v Verdict, name string) int {
			return cmp.Compare(v.Cluster.Name, name)
		})
		found.verdicts[at] = ranked[i]
	}

	for _, verdict := range found.verdicts {
		if verdict.Stage != StageScope {
			e.result.stages[verdict.Stage]++
		}
	}
}
