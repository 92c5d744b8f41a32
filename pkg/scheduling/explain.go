// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// SetState relates a ManagedClusterSet to the Request and to a cluster. A cluster is in scope when a set is Bound, Asked and Contains it.
type SetState struct {
	// Set is the ManagedClusterSet.
	Set *inventory.ClusterSet
	// Bound reports whether the set is bound to the namespace of the Placement, Asked whether the Placement selects the set by name or
	// selects all bound sets, and Contains whether the cluster is in the set.
	Bound, Asked, Contains bool
}

// Sets returns the SetStates of all sets, sorted by name.
func (r *Result) Sets(info *clusterinfo.ClusterInfo) []SetState {
	sets := r.snapshot.ClusterSets()
	states := make([]SetState, 0, len(sets))
	for _, set := range sets {
		states = append(states, SetState{
			Set:      set,
			Bound:    slices.Contains(r.Bound, set.Name),
			Asked:    len(r.Request.ClusterSets) == 0 || slices.Contains(r.Request.ClusterSets, set.Name),
			Contains: set.Contains(info),
		})
	}
	return states
}

// OutOfScope returns those of the clusters whose ManagedCluster exists, and is in none of the sets that are bound and selected.
func (r *Result) OutOfScope(clusters []string) []string {
	return r.outOf(r.Request.ClusterSets, clusters)
}

// Unbound returns those of the clusters whose ManagedCluster exists, and is in none of the sets that are bound, whatever sets the Request selects.
func (r *Result) Unbound(clusters []string) []string { return r.outOf(nil, clusters) }

func (r *Result) outOf(sets, clusters []string) []string {
	scope := r.snapshot.Scope(r.Request.Key.Namespace, sets)
	return slices.DeleteFunc(slices.Clone(clusters), func(name string) bool {
		info := r.Cluster(name)
		return info == nil || scope.Contains(info)
	})
}

// IsExcludedBySets reports whether a cluster is in a set that is bound to the namespace and not selected by the Request, so that the Request excludes
// it. It is false if the Request selects a set that does not exist or is not bound, of which the cluster may be a member.
func (r *Result) IsExcludedBySets(cluster string) bool {
	for _, set := range r.Request.ClusterSets {
		if !slices.Contains(r.Eligible, set) {
			return false
		}
	}
	return len(r.Request.ClusterSets) > 0 && r.Cluster(cluster) != nil && len(r.Unbound([]string{cluster})) == 0
}

// InfeasibleBy returns those of the clusters that the filter of a stage rejects before the ranking, in their order, as InfeasibleStages says.
func (r *Result) InfeasibleBy(stage Stage, clusters []string) []string {
	var infeasible []string
	for i, rejected := range r.InfeasibleStages(clusters) {
		if rejected == stage {
			infeasible = append(infeasible, clusters[i])
		}
	}
	return infeasible
}

// InfeasibleStages returns for each of the clusters the stage whose filter rejects it before the ranking; undecided for a feasible one. A cluster
// that does not exist is terminating. It evaluates only these clusters, and returns none when the Outcome is Invalid.
func (r *Result) InfeasibleStages(clusters []string) []Stage {
	if r.Outcome() == Invalid {
		return nil
	}
	e := newEvaluation(r.Request, r.snapshot, r.incumbents, r.now) // It keeps its side effects out of this Result.
	stages := make([]Stage, len(clusters))
	for i, name := range clusters {
		stages[i] = StageTerminating
		if info := r.Cluster(name); info != nil && !info.Terminating {
			stages[i] = e.filterCluster(info).Stage
		}
	}
	return stages
}

// For returns the Result of another Request of the same Placement, on the same Snapshot, with the same incumbents and at the same time.
func (r *Result) For(request *Request) *Result {
	return Schedule(request, r.snapshot, r.incumbents, r.now)
}

// Clauses returns, for each predicate, the results of its clauses on a cluster. A predicate without clauses matches.
func (r *Result) Clauses(info *clusterinfo.ClusterInfo) [][]selector.Clause {
	evalContext := &selector.EvalContext{Now: r.now}
	clauses := make([][]selector.Clause, 0, len(r.Request.Predicates))
	for _, predicate := range r.Request.Predicates {
		clauses = append(clauses, predicate.Selector.Explain(info, evalContext))
	}
	return clauses
}

// Tolerance reports whether a taint of a cluster is tolerated.
type Tolerance struct {
	// Taint is the taint, and Text its notation: "gpu=a100:NoSelect".
	Taint clusterv1.Taint
	Text  string
	// Tolerated reports whether the taint is tolerated. By is the toleration that does so, or nil for an incumbent, which tolerates
	// NoSelectIfNew and what is pending.
	Tolerated bool
	By        *clusterv1beta1.Toleration
	// Until is the end of the toleration; zero means never.
	Until time.Time
}

// Tolerances returns the taints of a cluster in their order; nil when the evaluation was not completed.
func (r *Result) Tolerances(info *clusterinfo.ClusterInfo) []Tolerance {
	if r.candidates == nil {
		return nil
	}
	e := evaluation{request: r.Request, incumbents: r.candidates.incumbents, evalContext: &selector.EvalContext{Now: r.now}}
	tolerances := make([]Tolerance, 0, len(info.Taints))

	for _, taint := range info.Taints {
		by, until := e.findToleration(info.Name, taint)
		tolerance := Tolerance{Taint: taint, Text: taintText(taint), Tolerated: by != notTolerated, Until: until}
		if by >= 0 {
			tolerance.By = &r.Request.Tolerations[by]
		}
		tolerances = append(tolerances, tolerance)
	}
	return tolerances
}
