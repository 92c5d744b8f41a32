// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"fmt"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// The costs of changes.
const (
	costUsual     = 10
	costUnusual   = 20
	costRare      = 40
	pointsPerStep = 20
)

// candidates returns changes that may help at the stage that rejects the cluster. The scheduler decides whether they do.
func (s *clusterSearch) candidates(at step) []candidate {
	verdict, known := at.result.Verdict(s.cluster)
	if !known {
		return nil
	}

	switch verdict.Stage {
	case scheduling.StageScope:
		return s.scopeCandidates(at.result, verdict)
	case scheduling.StagePredicate:
		return s.predicateCandidates(at.result, verdict)
	case scheduling.StageTaint:
		return s.taintCandidates(at.result, verdict, clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectNoSelectIfNew)
	case scheduling.StageAntiAffinity, scheduling.StageSpread, scheduling.StageRank:
		return slices.Concat(
			s.scoreCandidates(at.result, verdict),
			s.numberCandidates(at),
			s.taintCandidates(at.result, verdict, clusterv1.TaintEffectPreferNoSelect),
			s.domainCandidates(at.result, verdict),
		)
	case scheduling.StageTerminating, scheduling.StageSelected: // No change selects a terminating cluster.
		return nil
	}

	return nil
}

// scopeCandidates brings a set of the cluster into the scope of the Placement, or the cluster into a set in scope.
func (s *clusterSearch) scopeCandidates(result *scheduling.Result, verdict scheduling.Verdict) []candidate {
	var candidates []candidate
	for _, standing := range result.Sets(verdict.Cluster) {
		set := standing.Set
		if standing.Contains && !standing.Bound {
			text := fmt.Sprintf("set %s bound to namespace %s", set.Name, s.key.Namespace)
			candidates = append(candidates, s.newCandidate(KindBinding, set.Name, costUnusual, text,
				whatif.WithBinding{Namespace: s.key.Namespace, Set: set.Name}))
		}
		if standing.Contains && !standing.Asked {
			candidates = append(candidates, addClusterSet(s.key, set.Name))
		}

		if standing.Bound && standing.Asked && set.Members() != nil {
			clauses := failing(set.Members().Explain(verdict.Cluster, s.evalContext()))
			for _, join := range s.satisfyClauses(result, verdict.Cluster, clauses, noPredicate) {
				join.cost += costUnusual
				candidates = append(candidates, join)
			}
		}
	}

	return candidates
}

// predicateCandidates satisfies the first failing clause of each predicate with few failing clauses.
func (s *clusterSearch) predicateCandidates(result *scheduling.Result, verdict scheduling.Verdict) []candidate {
	asked := result.Clauses(verdict.Cluster)
	candidates := make([]candidate, 0, len(asked))
	for i, clauses := range asked {
		candidates = append(candidates, s.satisfyClauses(result, verdict.Cluster, failing(clauses), i)...)
	}
	return candidates
}

// taintCandidates tolerates the first untolerated taint of some effects, or removes it where the API has no tolerations.
func (s *clusterSearch) taintCandidates(result *scheduling.Result, verdict scheduling.Verdict, effects ...clusterv1.TaintEffect) []candidate {
	for _, tolerance := range result.Tolerances(verdict.Cluster) {
		taint := tolerance.Taint
		if tolerance.Tolerated || !slices.Contains(effects, taint.Effect) {
			continue
		}
		if s.key.API() != inventory.V1beta1 {
			return []candidate{s.newCandidate(kindTaint, tolerance.Text, costUsual, "taint "+tolerance.Text+" were taken away",
				whatif.Untaint{Cluster: s.cluster, Key: taint.Key, Effect: taint.Effect})}
		}
		return []candidate{s.newCandidate(kindToleration, tolerance.Text, costUsual, "toleration "+tolerance.Text, whatif.Toleration{
			Placement: s.key, Toleration: clusterv1beta1.Toleration{
				Key: taint.Key, Operator: clusterv1beta1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect,
			},
		})}
	}

	return nil
}

// maxThresholds bounds the numbers of points that are tried for one result.
const maxThresholds = 16

// scoreCandidates returns the numbers of points with which the cluster overtakes a selected cluster, or a better one of its anti-affinity
// domain; the fewest first.
func (s *clusterSearch) scoreCandidates(result *scheduling.Result, verdict scheduling.Verdict) []candidate {
	competitors := slices.Clone(result.Best())
	if key := result.Request.AntiAffinity; key != nil {
		value, _ := verdict.Cluster.Value(*key)
		for _, other := range result.Verdicts() {
			if same, has := other.Cluster.Value(*key); has && same == value && other.Rank > 0 && other.Rank < verdict.Rank {
				competitors = append(competitors, other)
			}
		}
	}
	var points []int64

	for _, competitor := range competitors {
		missing := competitor.Score - verdict.Score
		if competitor.Cluster.Name < verdict.Cluster.Name {
			missing++
		}
		if missing > 0 {
			points = append(points, missing)
		}
	}

	slices.Sort(points)
	points = slices.Compact(points)

	candidates := make([]candidate, 0, len(points))
	for _, missing := range points[:min(len(points), maxThresholds)] {
		candidates = append(candidates, addPoints(s.cluster, missing))
	}
	return candidates
}

// numberCandidates returns the lowest numberOfClusters that selects the cluster, by binary search: a higher number never deselects a
// cluster, because clusters are selected one by one.
func (s *clusterSearch) numberCandidates(at step) []candidate {
	wanted := at.result.Request.Wanted
	if wanted == nil {
		return nil
	}
	enough := func(number int) bool {
		next, answered := s.Extend(at, s.withNumber(number))
		return answered && next.selected
	}

	low, high := int(*wanted), at.result.Feasible()
	if low >= high || !enough(high) {
		return nil
	}

	for low+1 < high {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	enlarged := s.withNumber(high)
	enlarged.cost += min(high-int(*wanted)-1, costUsual)
	return []candidate{enlarged}
}

func (s *clusterSearch) withNumber(number int) candidate {
	clusters := int32(number)
	return s.newCandidate(kindNumber, "", costUsual, fmt.Sprintf("numberOfClusters %d", number), whatif.NumberOfClusters{
		Placement: s.key, Clusters: &clusters,
	})
}

// domainCandidates moves the cluster to other domains of the spread constraints and of anti-affinity.
func (s *clusterSearch) domainCandidates(result *scheduling.Result, verdict scheduling.Verdict) []candidate {
	var candidates []candidate
	for _, spread := range result.Spreads {
		values := make([]string, 0, len(spread.Selected))
		for value := range spread.Selected {
			values = append(values, value)
		}
		slices.SortFunc(values, func(a, b string) int {
			if fewer := spread.Selected[a] - spread.Selected[b]; fewer != 0 {
				return fewer
			}
			return slices.Compare([]byte(a), []byte(b))
		})

		candidates = append(candidates, s.setValues(verdict.Cluster, spread.Constraint.Key, values)...)
	}

	if key := result.Request.AntiAffinity; key != nil {
		candidates = append(candidates, s.uniqueValue(result, *key))
	}
	return candidates
}

// uniqueValue gives the cluster a value that no other cluster has.
func (s *clusterSearch) uniqueValue(result *scheduling.Result, key clusterinfo.Property) candidate {
	value := "value-of-its-own"
	for i := 1; slices.ContainsFunc(result.Verdicts(), func(v scheduling.Verdict) bool {
		other, _ := v.Cluster.Value(key)
		return other == value
	}); i++ {
		value = fmt.Sprintf("value-of-its-own-%d", i)
	}
	lone := s.setValue(key, value)
	lone.text = key.String() + " were one that no other cluster has"
	return lone
}
