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

// SetState is how one set stands to the question and to a cluster. A cluster is in scope when a set is Bound, Asked for and Holds it.
type SetState struct {
	// Set is the set.
	Set *inventory.ClusterSet
	// Bound says that it is bound to the namespace of the placement, Asked that the placement names it or names none, and Holds that the
	// cluster is in it.
	Bound, Asked, Contains bool
}

// Sets are all sets by name, with how each stands to the question and to a cluster.
func (r *Result) Sets(f *clusterinfo.ClusterInfo) []SetState {
	sets := r.snapshot.ClusterSets()
	states := make([]SetState, 0, len(sets))

	for _, set := range sets {
		states = append(states, SetState{
			Set:      set,
			Bound:    slices.Contains(r.Bound, set.Name),
			Asked:    len(r.Request.ClusterSets) == 0 || slices.Contains(r.Request.ClusterSets, set.Name),
			Contains: set.Contains(f),
		})
	}

	return states
}

// Clauses are the verdicts of every clause of every predicate on a cluster; an empty list of clauses matches.
func (r *Result) Clauses(f *clusterinfo.ClusterInfo) [][]selector.Clause {
	evalContext := &selector.EvalContext{Now: r.now}
	clauses := make([][]selector.Clause, 0, len(r.Request.Predicates))

	for _, predicate := range r.Request.Predicates {
		clauses = append(clauses, predicate.Selector.Explain(f, evalContext))
	}

	return clauses
}

// Tolerance is whether a taint of a cluster is tolerated.
type Tolerance struct {
	// Taint is the taint, and Text is how it is written: "gpu=a100:NoSelect".
	Taint clusterv1.Taint
	Text  string
	// Tolerated says that it does not count; By is the toleration that is the reason, or nil when the reason is that the cluster is in the
	// decisions already, which is enough for NoSelectIfNew.
	Tolerated bool
	By        *clusterv1beta1.Toleration
	// Until is when the toleration ends; zero means never.
	Until time.Time
}

// Tolerances are the taints of a cluster in their order. There are none when the result is Held.
func (r *Result) Tolerances(f *clusterinfo.ClusterInfo) []Tolerance {
	if r.candidates == nil {
		return nil
	}

	e := evaluation{request: r.Request, incumbents: r.candidates.incumbents, evalContext: &selector.EvalContext{Now: r.now}}
	tolerances := make([]Tolerance, 0, len(f.Taints))

	for _, taint := range f.Taints {
		by, until := e.findToleration(f.Name, taint)
		tolerance := Tolerance{Taint: taint, Text: taintText(taint), Tolerated: by != notTolerated, Until: until}

		if by >= 0 {
			tolerance.By = &r.Request.Tolerations[by]
		}

		tolerances = append(tolerances, tolerance)
	}

	return tolerances
}
