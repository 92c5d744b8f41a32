// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Explain explains an evaluation of a Placement for a cluster, without counterfactuals: see Search. It returns false when the cluster does
// not exist.
func Explain(evaluation explain.Evaluation, cluster string) (ClusterExplanation, bool) {
	return NewExplainer(evaluation).Cluster(cluster)
}

// Explainer explains an evaluation for any number of clusters. What they have in common is computed once. It is not safe for concurrent use.
type Explainer struct {
	evaluation explain.Evaluation
	incumbents map[string]bool
	holds      map[string]*document.Hold
	// places are the locations of the clusters in the desired decisions, and points those of each prioritizer, the most first.
	places map[string]*Location
	points [][]int64
	// taken counts the selected clusters by the value of the anti-affinity key.
	taken map[string]int
}

// NewExplainer returns an Explainer of an evaluation.
func NewExplainer(evaluation explain.Evaluation) *Explainer {
	e := &Explainer{
		evaluation: evaluation, incumbents: evaluation.Existing.Incumbents(), holds: evaluation.Holds(), places: placesIn(evaluation),
		taken: map[string]int{},
	}
	result := evaluation.Result
	if result == nil {
		return e
	}
	for _, scores := range result.Prioritizers() {
		points := make([]int64, 0, len(scores.Scores))
		for _, score := range scores.Scores {
			points = append(points, int64(scores.Prioritizer.Weight)*score)
		}
		slices.SortFunc(points, func(a, b int64) int { return cmp.Compare(b, a) })
		e.points = append(e.points, points)
	}
	if key := result.Request.AntiAffinity; key != nil {
		for _, selected := range result.Selected {
			if value, has := selected.Value(*key); has {
				e.taken[value]++
			}
		}
	}
	return e
}

// Cluster explains the evaluation for a cluster; see Explain.
func (e *Explainer) Cluster(cluster string) (ClusterExplanation, bool) {
	evaluation, result := e.evaluation, e.evaluation.Result
	unknown := ClusterExplanation{Cluster: cluster, Decided: e.incumbents[cluster]}
	if result == nil {
		unknown.Reason = "no answer, as " + evaluation.Skipped
		return unknown.VerdictAlone(), true
	}

	info, hold := result.Cluster(cluster), e.holds[cluster]
	switch {
	case info == nil && hold == nil:
		return ClusterExplanation{}, false
	case info == nil:
		unknown.Verdict, unknown.Reason, unknown.Hold, unknown.Kept = document.VerdictHeld, scheduling.DeletedReason, hold, true
		unknown.Feasible, unknown.Decision = result.Feasible(), e.places[cluster]
		return unknown.VerdictAlone(), true
	}
	explained := ClusterExplanation{
		Cluster: cluster, Feasible: result.Feasible(), Decided: e.incumbents[cluster], Terminating: info.Terminating,
		Sets: setsOf(result, info), Predicates: predicatesOf(result, info), Taints: taintsOf(result, info), Prioritizers: []Prioritizer{},
		Spread: spreadOf(result, info), Counterfactuals: []Counterfactual{}, Decision: e.places[cluster], Gone: explain.GoneNote(info),
	}

	verdict, answered := result.Verdict(cluster)
	if !answered {
		explained.Reason = "no answer: the placement or a set that it needs is broken, so its last decisions stay"
		return explained, true
	}
	explained.Verdict, explained.Rank, explained.Reason = verdict.Stage.String(), verdict.Rank, result.Reason(verdict)
	if hold != nil {
		explained.Verdict, explained.Hold, explained.Kept = document.VerdictHeld, hold, true
	}
	if verdict.Rank > 0 {
		explained.Score = &verdict.Score
		explained.Prioritizers = e.prioritizersOf(cluster)
	}

	if key := result.Request.AntiAffinity; key != nil {
		domain := newDomain(*key, info)
		domain.Selected = e.taken
		explained.AntiAffinity = &domain
	}
	return explained, true
}

// setsOf returns the sets that contain the cluster or that the Placement may use.
func setsOf(result *scheduling.Result, info *clusterinfo.ClusterInfo) []Set {
	sets := []Set{}
	for _, standing := range result.Sets(info) {
		set := Set{Name: standing.Set.Name, Contains: standing.Contains, Bound: standing.Bound, Asked: standing.Asked}
		if standing.Set.Err != nil {
			set.Broken = standing.Set.Err.Error()
		}
		if set.Contains || set.Bound && set.Asked {
			sets = append(sets, set)
		}
	}
	return sets
}

func predicatesOf(result *scheduling.Result, info *clusterinfo.ClusterInfo) []Predicate {
	asked := result.Clauses(info)
	predicates := make([]Predicate, 0, len(asked))
	for i, clauses := range asked {
		predicate := Predicate{Number: i + 1, Matches: true, Clauses: []Clause{}}
		for _, clause := range clauses {
			predicate.Matches = predicate.Matches && clause.Matches
			predicate.Clauses = append(predicate.Clauses, Clause{Text: clause.Text, Holds: clause.Matches, Failure: clause.Failure})
		}
		predicates = append(predicates, predicate)
	}
	return predicates
}

func taintsOf(result *scheduling.Result, info *clusterinfo.ClusterInfo) []Taint {
	tolerances := result.Tolerances(info)
	taints := make([]Taint, 0, len(tolerances))
	for _, tolerance := range tolerances {
		taint := Taint{Text: tolerance.Text, Effect: string(tolerance.Taint.Effect), Tolerated: tolerance.Tolerated}
		switch {
		case tolerance.By != nil:
			taint.By = "toleration " + tolerationText(*tolerance.By)
		case tolerance.Tolerated:
			taint.By = "the decisions have the cluster already"
		default:
			taint.Remedy = remedy(tolerance.Taint.Key)
		}

		if !tolerance.Until.IsZero() {
			taint.Until = &metav1.Time{Time: tolerance.Until}
		}
		taints = append(taints, taint)
	}

	return taints
}

// remedy returns what removes a taint of the controller managedcluster-taints; empty for other taints.
func remedy(key string) string {
	switch key {
	case clusterv1.ManagedClusterTaintUnreachable:
		return "no agent reports whether the cluster is available; the hub removes the taint when the condition " +
			clusterv1.ManagedClusterConditionAvailable + " is True (docs/clusters.md)"
	case clusterv1.ManagedClusterTaintUnavailable:
		return "the agent reports that the cluster is not available; the hub removes the taint when the condition " +
			clusterv1.ManagedClusterConditionAvailable + " is True (docs/clusters.md)"
	default:
		return ""
	}
}

// tolerationText returns a text such as "gpu=a100:NoSelect for 60s".
func tolerationText(toleration clusterv1beta1.Toleration) string {
	text := toleration.Key
	switch {
	case text == "":
		text = "of every taint"
	case toleration.Operator == clusterv1beta1.TolerationOpExists:
		text += " (Exists)"
	default:
		text += "=" + toleration.Value
	}

	if toleration.Effect != "" {
		text += ":" + string(toleration.Effect)
	}
	if toleration.TolerationSeconds != nil {
		text += fmt.Sprintf(" for %ds", *toleration.TolerationSeconds)
	}
	return text
}

func (e *Explainer) prioritizersOf(cluster string) []Prioritizer {
	result := e.evaluation.Result
	prioritizers := make([]Prioritizer, 0, len(result.Prioritizers()))
	for i, scores := range result.Prioritizers() {
		weight := scores.Prioritizer.Weight
		reported := Prioritizer{Name: scores.Prioritizer.Name(), Weight: weight, Points: int64(weight) * scores.Scores[cluster], Rank: 1}
		if score, given := scores.Scores[cluster]; given {
			reported.Score = &score
		}
		if missing, is := result.MissingScore(scores.Prioritizer, result.Cluster(cluster)); is {
			reported.Missing = missing.String()
		}
		if reported.Points < 0 {
			reported.Rank += result.Feasible() - len(scores.Scores) // Those without a score have no points.
		}
		more, _ := slices.BinarySearchFunc(e.points[i], reported.Points, func(points, own int64) int { return cmp.Compare(own, points) })
		reported.Rank += more
		prioritizers = append(prioritizers, reported)
	}

	return prioritizers
}

func newDomain(key clusterinfo.Property, info *clusterinfo.ClusterInfo) Domain {
	domain := Domain{Key: key.String(), Selected: map[string]int{}}
	if value, has := info.Value(key); has {
		domain.Value = &value
	}
	return domain
}

func spreadOf(result *scheduling.Result, info *clusterinfo.ClusterInfo) []Domain {
	domains := make([]Domain, 0, len(result.Spreads))
	for _, spread := range result.Spreads {
		domain := newDomain(spread.Constraint.Key, info)
		domain.MaxSkew, domain.WhenUnsatisfiable = spread.Constraint.MaxSkew, string(clusterv1beta1.ScheduleAnyway)
		if spread.Constraint.Hard {
			domain.WhenUnsatisfiable = string(clusterv1beta1.DoNotSchedule)
		}
		maps.Copy(domain.Selected, spread.Selected)
		domains = append(domains, domain)
	}
	return domains
}

// placesIn returns the locations of the clusters in the desired decisions.
func placesIn(evaluation explain.Evaluation) map[string]*Location {
	places := map[string]*Location{}
	add := func(page string, at *Location) {
		for _, cluster := range evaluation.Pages[page] {
			if places[cluster] == nil {
				places[cluster] = at
			}
		}
	}
	for _, group := range evaluation.Status.Groups {
		for _, page := range group.Pages {
			place := &Location{GroupName: group.Name, Page: page}
			if evaluation.Placement.API == api.V1beta1 {
				place.Group = new(int32(group.Index))
			}
			add(page, place)
		}
	}
	for _, page := range slices.Sorted(maps.Keys(evaluation.Pages)) {
		add(page, &Location{Page: page})
	}
	return places
}
