package story

import (
	"fmt"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain/overlay"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// How much a change asks for.
const (
	usual         = 10
	unusual       = 20
	rare          = 40
	pointsPerStep = 20
)

// proposals are changes that may help against what keeps the cluster out. They need not: the engine decides.
func (s *search) proposals(at step) []proposal {
	verdict, known := at.result.Verdict(s.cluster)
	if !known {
		return nil
	}

	switch verdict.Stage {
	case scheduling.StageScope:
		return s.intoScope(at.result, verdict)
	case scheduling.StagePredicate:
		return s.intoPredicate(at.result, verdict)
	case scheduling.StageTaint:
		return s.throughTaints(at.result, verdict, clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectNoSelectIfNew)
	case scheduling.StageAntiAffinity, scheduling.StageSpread, scheduling.StageRank:
		return slices.Concat(
			s.upwards(at.result, verdict),
			s.number(at),
			s.throughTaints(at.result, verdict, clusterv1.TaintEffectPreferNoSelect),
			s.elsewhere(at.result, verdict),
		)
	default: // Nothing brings back what is being deleted.
		return nil
	}
}

// intoScope brings the cluster's sets to the placement, or the cluster into the placement's sets.
func (s *search) intoScope(result *scheduling.Result, verdict scheduling.Verdict) []proposal {
	var proposals []proposal

	for _, standing := range result.Sets(verdict.Cluster) {
		set := standing.Set

		if standing.Contains && !standing.Bound {
			text := fmt.Sprintf("set %s bound to namespace %s", set.Name, s.key.Namespace)
			proposals = append(proposals, s.overlay(kindBinding, set.Name, unusual, text,
				overlay.WithBinding{Namespace: s.key.Namespace, Set: set.Name}))
		}

		if standing.Contains && !standing.Asked {
			proposals = append(proposals, asking(s.key, set.Name))
		}

		if standing.Bound && standing.Asked && set.Members() != nil {
			for _, join := range s.towards(result, verdict.Cluster, failing(set.Members().Explain(verdict.Cluster, s.pass())), noPredicate) {
				join.size += unusual
				proposals = append(proposals, join)
			}
		}
	}

	return proposals
}

// intoPredicate lets the first clause hold that does not, for each predicate that few changes could make match.
func (s *search) intoPredicate(result *scheduling.Result, verdict scheduling.Verdict) []proposal {
	asked := result.Clauses(verdict.Cluster)
	proposals := make([]proposal, 0, len(asked))

	for i, clauses := range asked {
		proposals = append(proposals, s.towards(result, verdict.Cluster, failing(clauses), i)...)
	}

	return proposals
}

// throughTaints has the first untolerated taint of some effects tolerated, or taken away where placements have no tolerations.
func (s *search) throughTaints(result *scheduling.Result, verdict scheduling.Verdict, effects ...clusterv1.TaintEffect) []proposal {
	for _, tolerance := range result.Tolerances(verdict.Cluster) {
		taint := tolerance.Taint
		if tolerance.Tolerated || !slices.Contains(effects, taint.Effect) {
			continue
		}

		if s.key.API != inventory.V1beta1 {
			return []proposal{s.overlay(kindTaint, tolerance.Text, usual, "taint "+tolerance.Text+" were taken away",
				overlay.Untaint{Cluster: s.cluster, Key: taint.Key, Effect: taint.Effect})}
		}

		return []proposal{s.overlay(kindToleration, tolerance.Text, usual, "toleration "+tolerance.Text, overlay.Toleration{
			Placement: s.key, Toleration: clusterv1beta1.Toleration{
				Key: taint.Key, Operator: clusterv1beta1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect,
			},
		})}
	}

	return nil
}

// thresholds is how many numbers of points are tried for one answer.
const thresholds = 16

// upwards are the numbers of points with which the cluster overtakes one that is selected, or that has its place; the fewest first.
func (s *search) upwards(result *scheduling.Result, verdict scheduling.Verdict) []proposal {
	rivals := slices.Clone(result.Best())

	if key := result.Request.AntiAffinity; key != nil {
		value, _ := verdict.Cluster.Value(*key)
		for _, other := range result.Verdicts() {
			if same, has := other.Cluster.Value(*key); has && same == value && other.Rank > 0 && other.Rank < verdict.Rank {
				rivals = append(rivals, other)
			}
		}
	}

	var points []int64

	for _, rival := range rivals {
		missing := rival.Score - verdict.Score
		if rival.Cluster.Name < verdict.Cluster.Name {
			missing++
		}

		if missing > 0 {
			points = append(points, missing)
		}
	}

	slices.Sort(points)
	points = slices.Compact(points)

	proposals := make([]proposal, 0, len(points))
	for _, missing := range points[:min(len(points), thresholds)] {
		proposals = append(proposals, bonus(s.cluster, missing))
	}

	return proposals
}

// number is the lowest number of clusters with which the cluster is selected. Clusters are taken one by one, so that the more are wanted,
// the more are selected.
func (s *search) number(at step) []proposal {
	wanted := at.result.Request.Wanted
	if wanted == nil {
		return nil
	}

	enough := func(number int) bool {
		next, answered := s.take(at, s.wanting(number))

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

	enlarged := s.wanting(high)
	enlarged.size += min(high-int(*wanted)-1, usual)

	return []proposal{enlarged}
}

func (s *search) wanting(number int) proposal {
	clusters := int32(number)

	return s.overlay(kindNumber, "", usual, fmt.Sprintf("numberOfClusters %d", number), overlay.NumberOfClusters{
		Placement: s.key, Clusters: &clusters,
	})
}

// elsewhere puts the cluster into other domains of the spread constraints and of anti-affinity.
func (s *search) elsewhere(result *scheduling.Result, verdict scheduling.Verdict) []proposal {
	var proposals []proposal

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

		proposals = append(proposals, s.values(verdict.Cluster, spread.Constraint.Key, values)...)
	}

	if key := result.Request.AntiAffinity; key != nil {
		proposals = append(proposals, s.unique(result, *key))
	}

	return proposals
}

// unique gives the cluster a value that no cluster has.
func (s *search) unique(result *scheduling.Result, key clusterinfo.Property) proposal {
	value := "value-of-its-own"
	for i := 1; slices.ContainsFunc(result.Verdicts(), func(v scheduling.Verdict) bool {
		other, _ := v.Cluster.Value(key)

		return other == value
	}); i++ {
		value = fmt.Sprintf("value-of-its-own-%d", i)
	}

	lone := s.having(key, value)
	lone.text = key.String() + " were one that no other cluster has"

	return lone
}
