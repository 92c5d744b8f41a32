package scheduling

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Stage is how far a cluster came.
type Stage uint8

// The stages in their order. A cluster's verdict carries the first stage that kept it out, or StageSelected.
const (
	StageScope Stage = iota
	StageTerminating
	StagePredicate
	StageTaint
	StageAntiAffinity
	StageSpread
	StageRank
	StageSelected
)

// String is the word for the stage in tables.
func (s Stage) String() string {
	return [...]string{"OutOfScope", "Terminating", "Predicate", "Taint", "AntiAffinity", "Spread", "Rank", "Selected"}[s]
}

// Verdict is what became of one cluster.
type Verdict struct {
	// Cluster is what was known of the cluster.
	Cluster *clusterinfo.ClusterInfo
	// Stage says how far it came.
	Stage Stage
	// Rank counts from 1 over the feasible clusters, best first; 0 for clusters that were not feasible.
	Rank int
	// Score is the weighted sum of the prioritizers; 0 for clusters that were not feasible.
	Score int64
	// Avoid is how many untolerated taints ask to prefer other clusters; 0 for clusters that were not feasible.
	Avoid int

	taint int
	// kept says that the cluster comes before those with a higher score, as something of it could not be decoded.
	kept bool
	// conflict is the rank of the better cluster with the same value of the anti-affinity key, withoutKey, or 0 when nothing is against it.
	conflict int
}

// PrioritizerScores are the unweighted scores of one prioritizer by feasible cluster. A cluster that does not report what the prioritizer looks at
// has none, which counts as 0.
type PrioritizerScores struct {
	Prioritizer Prioritizer
	Scores      map[string]int64
}

// EvaluationError says that a CEL expression could not be evaluated on some clusters.
type EvaluationError struct {
	// Path is the place of the expression in the user's object.
	Path *field.Path
	// Clusters is how many clusters it failed on; First is the first of them by name, and Err what went wrong there.
	Clusters int
	First    string
	Err      error
}

// Warning is something that a user should know although the answer stands.
type Warning struct {
	// Source names the prioritizer or stage.
	Source string
	// Message says what it is.
	Message string
}

// Result is the answer to a Request. It explains itself: conditions, events and tables are renderings of it.
type Result struct {
	// Request is the question, and Generation the number of the snapshot it was put to.
	Request    *Request
	Generation uint64

	// Errors are what is wrong with the question; BrokenSets are the sets it needs whose selector is wrong. With either, the result
	// is Held.
	Errors     field.ErrorList
	BrokenSets []*inventory.ClusterSet

	// Bound, Eligible and Available count what the question could look at: the existing sets bound to the namespace, those of them it
	// asks for, and their clusters that are not terminating.
	Bound, Eligible []string
	Available       int

	// Selected are the chosen clusters, sorted by name. It is empty when the result is Held. The list may be shared and must not be changed.
	Selected []*clusterinfo.ClusterInfo
	// Unscheduled is how many clusters are wanted and were not found.
	Unscheduled int

	// Spreads are how the selected clusters lie, one for each constraint in its order.
	Spreads []Spread

	// EvaluationErrors are the CEL expressions that failed, in the order of their paths.
	EvaluationErrors []EvaluationError

	// Cost is what the CEL expressions cost, in CEL's own cost units. An answer that was remembered costs what it did when it was found.
	Cost uint64
	// Expired counts the AddOnPlacementScores of feasible clusters that a prioritizer reads and that are past their validUntil.
	Expired int

	// RequeueAt is the earliest time at which the answer can change by itself; zero means never.
	RequeueAt time.Time

	snapshot   *inventory.Snapshot
	incumbents map[string]bool
	now        time.Time
	// blocked says that the answer is not to be carried out, and postponement why, if it is because of an old view.
	blocked      bool
	postponement *Postponement
	// taintsChangeAt is the earliest time at which another taint than now keeps a cluster out; zero means never.
	taintsChangeAt time.Time
	// candidates is nil when the result is Held.
	candidates *candidates
	stages     stageCounts
	details    func() *details
	// rejections is nil where they are counted over the verdicts.
	rejections func() []Rejection
}

// stageCounts counts clusters by stage.
type stageCounts [StageSelected + 1]int

// details are what became of every cluster.
type details struct {
	// verdicts has every cluster that exists, sorted by name; best has the selected ones, and feasible all that passed predicates and taints,
	// best first.
	verdicts, best, feasible []Verdict
	prioritizers             []PrioritizerScores
}

// Cluster is what was known of a cluster, whatever became of it; nil when it did not exist.
func (r *Result) Cluster(name string) *clusterinfo.ClusterInfo { return r.snapshot.Cluster(name) }

// Stalled reports whether there is no answer, or none that is to be carried out, so that the last good decisions stay.
func (r *Result) Stalled() bool { return r.blocked || !r.Valid() }

// Valid reports whether there is an answer, be it one that is Withheld.
func (r *Result) Valid() bool { return len(r.Errors) == 0 && len(r.BrokenSets) == 0 }

// Blocked is the same answer when it is not to be carried out: it is Held and selects nothing. It is to be asked for again at a time,
// unless that is zero, and when its causes can change.
func (r *Result) Blocked(again time.Time) *Result {
	blocked := *r
	blocked.blocked, blocked.Selected, blocked.stages = true, nil, stageCounts{}
	blocked.RequeueAt = earliest(earliest(r.RequeueAt, again), r.taintsChangeAt)

	return &blocked
}

// Postponement says why the removals of a result must wait: it could not be proved that the result was computed on the latest state of the
// hub.
type Postponement struct {
	// Reason is a CamelCase word and Message a sentence, as in conditions. Both are stable while the cause lasts.
	Reason, Message string
}

// Postponed returns the result when its removals must wait: it is Withheld until it is computed again at a time, or earlier when its causes
// change.
func (r *Result) Postponed(why Postponement, again time.Time) *Result {
	postponed := r.Blocked(again)
	postponed.postponement = &why

	return postponed
}

// Postponement returns why the removals of the result must wait; nil when they need not.
func (r *Result) Postponement() *Postponement { return r.postponement }

// Satisfied reports whether as many clusters are selected as the question wants. A result that is Held is not.
func (r *Result) Satisfied() bool {
	return !r.Stalled() && r.Available > 0 && r.Unscheduled == 0 && (len(r.Selected) > 0 || r.Request.NoneIsEnough)
}

// Feasible is how many clusters passed predicates and taints.
func (r *Result) Feasible() int {
	if r.candidates == nil {
		return 0
	}

	return len(r.candidates.clusters)
}

// Count is how many clusters in scope came to a stage and no further; 0 when the result is Held, and for StageScope. It is known without
// the verdicts.
func (r *Result) Count(stage Stage) int { return r.stages[stage] }

// Scores are the feasible clusters by name with their scores, which are the weighted sums of the prioritizers. They are found when they are
// first asked for.
func (r *Result) Scores() iter.Seq2[*clusterinfo.ClusterInfo, int64] {
	return func(yield func(*clusterinfo.ClusterInfo, int64) bool) {
		if r.candidates == nil {
			return
		}

		totals := r.candidates.totals()

		for i, f := range r.candidates.clusters {
			if !yield(f, totals[i]) {
				return
			}
		}
	}
}

// Score is the score of a feasible cluster; 0 for others.
func (r *Result) Score(cluster string) int64 {
	if r.candidates == nil {
		return 0
	}

	at, found := slices.BinarySearchFunc(r.candidates.clusters, cluster, compareName)
	if !found {
		return 0
	}

	return r.candidates.totals()[at]
}

// Warnings are what a user should know although the answer stands, sorted.
func (r *Result) Warnings() []Warning {
	if r.candidates == nil {
		return nil
	}

	return r.candidates.warnings()
}

// Verdicts has every cluster that exists, sorted by name. It is empty when there is no answer. The verdicts are found by the reference when
// they are first asked for.
func (r *Result) Verdicts() []Verdict { return r.details().verdicts }

// Best are the selected clusters, best first.
func (r *Result) Best() []Verdict { return r.details().best }

// Prioritizers are the scores in the order they were asked for.
func (r *Result) Prioritizers() []PrioritizerScores { return r.details().prioritizers }

func compareName(cluster *clusterinfo.ClusterInfo, name string) int {
	return cmp.Compare(cluster.Name, name)
}
