// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// PrioritizerScores has the unweighted scores of one prioritizer by the name of the feasible cluster. A cluster that does not report the
// resource has no entry, which counts as 0.
type PrioritizerScores struct {
	Prioritizer Prioritizer
	Scores      map[string]int64
}

// EvaluationError is a CEL expression that could not be evaluated on some clusters.
type EvaluationError struct {
	// Path is the path of the expression in the Placement.
	Path *field.Path
	// Clusters is the number of clusters on which the expression failed; First is the first of them by name, and Err its error.
	Clusters int
	First    string
	Err      error
}

// Result is the result of a Request on a Snapshot. It explains itself: conditions, events and tables are rendered from it. Scores, verdicts
// and rejections are computed when they are first read, in any goroutine.
type Result struct {
	// Request is the evaluated Request, and Generation the generation of the Snapshot.
	Request    *Request
	Generation uint64

	// Errors are the validation errors of the Request. BrokenSets are the ManagedClusterSets in its scope whose selector is invalid. With
	// either, the Outcome is Invalid.
	Errors     field.ErrorList
	BrokenSets []*inventory.ClusterSet

	// Bound are the names of the existing sets bound to the namespace, Eligible those of them that the Request selects, and Available is
	// the number of their clusters that are not terminating.
	Bound, Eligible []string
	Available       int

	// Selected are the selected clusters, sorted by name; it is empty unless the Result Applies. The slice may be shared and must not be
	// modified.
	Selected []*clusterinfo.ClusterInfo
	// Kept are those of Selected that stay in the decisions although they should leave, sorted; only a Result that is Held or Postponed has any. The
	// ManagedCluster of a kept cluster may not exist.
	Kept []string
	// Unscheduled is the number of wanted clusters that were not found.
	Unscheduled int

	// Spreads has the distribution of the selected clusters for each spread constraint, in the order of the constraints.
	Spreads []Spread

	// EvaluationErrors are the failed CEL expressions, sorted by path.
	EvaluationErrors []EvaluationError

	// Cost is the cost of the CEL expressions in the cost units of CEL. A cached result counts with its original cost.
	Cost uint64
	// Expired is the number of AddOnPlacementScores of feasible clusters that a prioritizer reads and whose validUntil has passed.
	Expired int

	// RequeueAt is the earliest time at which the Result can change without an event; zero means never.
	RequeueAt time.Time

	snapshot   *inventory.Snapshot
	incumbents Incumbents
	now        time.Time
	// held reports whether clusters that leave stay, and postponement has the cause if the state of the hub may be outdated.
	held bool
	// costExceeded reports that the CEL expressions cost more than one evaluation may cost.
	costExceeded bool
	postponement *Postponement
	// taintsChangeAt is the earliest time at which a rejected cluster is rejected by another taint; zero means never.
	taintsChangeAt time.Time
	// candidates is nil when the evaluation was not completed.
	candidates *candidates
	stages     stageCounts
	details    func() *details
	// ranked has the feasible clusters with their stages, best first; nil when the selection does not rank all of them.
	ranked []Verdict
	// best is nil when Best takes the verdicts of details.
	best func() []Verdict
	// rejections is nil when Rejections counts the verdicts instead.
	rejections func() []Rejection
}

// Postponement is the cause why the removals of a Result must wait: the Result could not be proved to be computed on the latest state of
// the hub.
type Postponement struct {
	// Reason is a CamelCase word and Message a sentence, as in conditions. Both are stable while the cause lasts.
	Reason, Message string
}

// details has the verdicts of all clusters, as the reference finds them.
type details struct {
	// verdicts has every existing cluster, sorted by name; best has the selected clusters, best first.
	verdicts, best []Verdict
	prioritizers   []PrioritizerScores
}

// Cluster returns a cluster of the Snapshot by name; nil when it does not exist.
func (r *Result) Cluster(name string) *clusterinfo.ClusterInfo { return r.snapshot.Cluster(name) }

// Feasible returns the number of clusters that passed predicates and taints.
func (r *Result) Feasible() int {
	if r.candidates == nil {
		return 0
	}
	return len(r.candidates.clusters)
}

// IsFeasible reports whether a cluster passed predicates and taints.
func (r *Result) IsFeasible(cluster string) bool {
	if r.candidates == nil {
		return false
	}
	_, feasible := r.candidates.index(cluster)
	return feasible
}

// Count returns the number of clusters in scope with this stage; 0 unless the Outcome is Decided, and for StageScope. It does not compute the
// verdicts.
func (r *Result) Count(stage Stage) int { return r.stages[stage] }

// Scores returns the feasible clusters by name with their total scores, which are computed when they are first read.
func (r *Result) Scores() iter.Seq2[*clusterinfo.ClusterInfo, int64] {
	return func(yield func(*clusterinfo.ClusterInfo, int64) bool) {
		if r.candidates == nil {
			return
		}
		totals := r.candidates.totals()
		for i, info := range r.candidates.clusters {
			if !yield(info, totals[i]) {
				return
			}
		}
	}
}

// Score returns the total score of a feasible cluster; 0 for others.
func (r *Result) Score(cluster string) int64 {
	if r.candidates == nil {
		return 0
	}
	at, found := r.candidates.index(cluster)
	if !found {
		return 0
	}
	return r.candidates.totals()[at]
}

// Verdicts returns the verdict of every existing cluster, sorted by name; empty when the Outcome is Invalid. The reference computes them
// when they are first read.
func (r *Result) Verdicts() []Verdict { return r.details().verdicts }

// Best returns the verdicts of the selected clusters, best first. It computes those of the others only if anti-affinity or spread constraints compare
// them.
func (r *Result) Best() []Verdict {
	if r.best != nil {
		return r.best()
	}
	return r.details().best
}

// InScope iterates over the existing clusters that are in scope, sorted by name; none when the Outcome is Invalid. It does not compute the verdicts.
func (r *Result) InScope() iter.Seq[*clusterinfo.ClusterInfo] {
	return func(yield func(*clusterinfo.ClusterInfo) bool) {
		if r.candidates == nil {
			return
		}
		scope := r.snapshot.Scope(r.Request.Key.Namespace, r.Request.ClusterSets)
		for _, info := range r.snapshot.Clusters() {
			if scope.Contains(info) && !yield(info) {
				return
			}
		}
	}
}

// Prioritizers returns the scores of each prioritizer, in the order of the Request.
func (r *Result) Prioritizers() []PrioritizerScores { return r.details().prioritizers }

func compareName(cluster *clusterinfo.ClusterInfo, name string) int {
	return cmp.Compare(cluster.Name, name)
}
