package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// evaluation is the state of one call of Schedule or Reference.
type evaluation struct {
	request     *Request
	snapshot    *inventory.Snapshot
	incumbents  map[string]bool
	evalContext *selector.EvalContext
	result      *Result
	// recorder receives the steps.
	recorder Recorder

	// ranked has the feasible clusters with their stages, best first; nil when the selection does not rank all of them.
	ranked []Verdict
}

func newEvaluation(request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time) *evaluation {
	return &evaluation{
		request: request, snapshot: snapshot, incumbents: incumbents, evalContext: &selector.EvalContext{Now: now}, recorder: NopRecorder,
		result: &Result{
			Request: request, Generation: snapshot.Generation, Errors: request.Errors, snapshot: snapshot, incumbents: incumbents, now: now,
			details: func() *details { return &details{} },
		},
	}
}

// Schedule evaluates the Request on a Snapshot. The incumbents are the names of the clusters in the existing decisions of the Placement;
// now is the time of the evaluation. Request, Snapshot and incumbents must not be modified while the Result is used.
func Schedule(request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time) *Result {
	return ScheduleRecorded(request, snapshot, incumbents, now, NopRecorder)
}

// ScheduleRecorded is Schedule with a Recorder of the steps.
func ScheduleRecorded(
	request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time, recorder Recorder,
) *Result {
	e := newEvaluation(request, snapshot, incumbents, now)
	e.recorder = recorder
	scope := e.scope()

	if e.result.Outcome() != Decided {
		return e.result
	}

	p := e.filter(scope)
	if p == nil {
		return e.costExceeded()
	}

	e.recorder.Begin(StepTaintToleration)

	left := e.filterTaints(p)

	e.recorder.End(StepTaintToleration)

	e.result.stages[StageTaint] = len(p.indices) - len(left.indices)

	c := e.newCandidates()
	e.evalContext.RequeueAfterChange(left.until)
	c.clusters, c.avoid = left.clusters, left.avoid
	c.available = func(yield func(*clusterinfo.ClusterInfo) bool) {
		candidates, _ := snapshot.Candidates(scope)
		for index := range candidates.EachSet() {
			if !yield(snapshot.ClusterInfo(index)) {
				return
			}
		}
	}
	c.decisionCounts = func() (func(int) int, int) {
		counts := snapshot.CountsOfOthers(request.Key)

		return func(i int) int { return counts.Of(left.indices[i]) }, counts.Highest
	}

	e.result.Expired = c.countExpired(e.evalContext.RequeueAfterExpiry)
	e.selectFast(c)
	e.result.RequeueAt = e.requeueAt()

	if e.result.ListsRejections() {
		e.result.rejections = sync.OnceValue(func() []Rejection { return e.rejections(scope, p) })
	}

	e.result.details = sync.OnceValue(func() *details { return Reference(request, snapshot, incumbents, now).details() })

	return e.result
}

func (e *evaluation) scope() inventory.Scope {
	scope := e.snapshot.Scope(e.request.Key.Namespace, e.request.ClusterSets)
	e.result.Bound = scope.Bound

	for _, set := range scope.Eligible {
		e.result.Eligible = append(e.result.Eligible, set.Name)

		if set.Err != nil {
			e.result.BrokenSets = append(e.result.BrokenSets, set)
		}
	}

	return scope
}

// costExceeded returns the Result of an evaluation whose CEL expressions cost too much: an error instead of a selection. RequeueAt is the
// time at which the first of the evaluated expressions can change, because the cost stays the same until then.
func (e *evaluation) costExceeded() *Result {
	result := *e.result
	result.Available, result.EvaluationErrors, result.RequeueAt = 0, nil, e.evalContext.RequeueAt()
	result.Cost, result.stages = e.evalContext.Cost(), stageCounts{}
	result.Errors = field.ErrorList{field.Forbidden(field.NewPath("spec", "predicates"), fmt.Sprintf(
		"the CEL expressions cost more than the %d that one evaluation over all clusters may cost: narrow the clusters by labelSelector, "+
			"claimSelector or clusterSets first, or make the expressions cheaper", uint64(selector.MaxCost)))}

	return &result
}

// newCandidates returns candidates that have no clusters yet, and sets them in the Result.
func (e *evaluation) newCandidates() *candidates {
	c := &candidates{
		request: e.request, snapshot: e.snapshot, incumbents: e.incumbents, now: e.evalContext.Now, avoid: map[string]int{}, recorder: e.recorder,
	}
	e.result.Cost = e.evalContext.Cost()
	e.result.candidates = c.memoizeTotals()

	return c
}

// recordError adds a failed CEL evaluation. The error of the first cluster by name represents the others.
func (e *evaluation) recordError(path *field.Path, cluster string, err error) {
	known := slices.IndexFunc(e.result.EvaluationErrors, func(other EvaluationError) bool { return other.Path.String() == path.String() })
	if known < 0 {
		e.result.EvaluationErrors = append(e.result.EvaluationErrors, EvaluationError{Path: path, Clusters: 1, First: cluster, Err: err})
		slices.SortFunc(e.result.EvaluationErrors, func(a, b EvaluationError) int { return cmp.Compare(a.Path.String(), b.Path.String()) })

		return
	}

	noted := &e.result.EvaluationErrors[known]
	noted.Clusters++

	if cluster < noted.First {
		noted.First, noted.Err = cluster, err
	}
}

// predicateResult has the clusters that pass scope and predicates. It depends only on the sets and predicates of a Request, so that
// Placements with the same ones share it.
type predicateResult struct {
	available, terminating int

	tainted  inventory.Members
	indices  []uint
	clusters []*clusterinfo.ClusterInfo
}

// feasibleClusters has the clusters that pass scope, predicates and taints, sorted by name.
type feasibleClusters struct {
	indices  []uint
	clusters []*clusterinfo.ClusterInfo
	avoid    map[string]int
	until    time.Time
}

// filter returns the clusters that pass scope and predicates; nil when the CEL expressions cost too much.
func (e *evaluation) filter(scope inventory.Scope) *predicateResult {
	e.recorder.Begin(StepPredicate)

	p := memoize(e, "", func() *predicateResult { return e.filterPredicates(scope) }, (*predicateResult).bytes)

	e.recorder.End(StepPredicate)

	if e.evalContext.Exhausted() {
		return nil
	}

	e.result.Available = p.available
	e.result.stages[StageTerminating] = p.terminating
	e.result.stages[StagePredicate] = p.available - len(p.indices)

	return p
}

// memoize returns the result of find from the cache of the Snapshot, which is shared by Requests with the same sets and predicates.
// Predicates with CEL are evaluated each time. The function size estimates the size of the result in bytes.
func memoize[T any](e *evaluation, about string, find func() T, size func(T) int) T {
	if e.dynamic() {
		return find()
	}

	identity := inventory.RequestIdentity(e.request.ClusterSets, e.request.selectors())

	return inventory.Memoize(e.snapshot, identity, about+strings.Join(e.result.Eligible, "\x00"), find, size)
}

// requeueAt returns the earliest time at which the Result can change without an event. Rejected clusters count only while the status lists
// rejections.
func (e *evaluation) requeueAt() time.Time {
	if e.result.ListsRejections() {
		e.evalContext.RequeueAfterChange(e.result.taintsChangeAt)
	}

	return e.evalContext.RequeueAt()
}

func (e *evaluation) dynamic() bool {
	return slices.ContainsFunc(e.request.Predicates, func(p Predicate) bool { return p.Selector.HasCEL() })
}

// bytes estimates the size of the result, without the ClusterInfos.
func (p *predicateResult) bytes() int {
	const fixed, perCluster, bitsPerByte = 256, 16, 8

	return fixed + len(p.indices)*perCluster + int(p.tainted.Len()/bitsPerByte)
}

func (e *evaluation) filterPredicates(scope inventory.Scope) *predicateResult {
	candidates, terminating := e.snapshot.Candidates(scope)
	members, p := candidates, &predicateResult{available: int(candidates.Count()), terminating: terminating}

	if len(e.request.Predicates) > 0 {
		members = e.matchAny(candidates)
	}

	p.tainted = e.snapshot.Tainted(members)
	p.indices = e.snapshot.SortedByName(members)
	p.clusters = e.clustersAt(p.indices)

	return p
}

func (e *evaluation) clustersAt(indices []uint) []*clusterinfo.ClusterInfo {
	clusters := make([]*clusterinfo.ClusterInfo, 0, len(indices))
	for _, index := range indices {
		clusters = append(clusters, e.snapshot.ClusterInfo(index))
	}

	return clusters
}

// matchAny returns the clusters that match any predicate. Each predicate is evaluated on the clusters that the predicates before it have
// not matched.
func (e *evaluation) matchAny(candidates inventory.Members) inventory.Members {
	left, passed := candidates.Clone(), candidates.Clone().ClearAll()

	for _, predicate := range e.request.Predicates {
		matching := e.match(predicate, left)
		passed.InPlaceUnion(matching)
		left.InPlaceDifference(matching)
	}

	return passed
}

func (e *evaluation) match(predicate Predicate, candidates inventory.Members) inventory.Members {
	if !predicate.Selector.HasCEL() {
		return e.snapshot.Match(predicate.Selector, candidates)
	}

	e.recorder.Begin(StepCEL)
	defer e.recorder.End(StepCEL)

	matching := e.snapshot.MatchCEL(predicate.Selector, candidates, e.evalContext, func(f *clusterinfo.ClusterInfo, verdict selector.Verdict) {
		e.recordError(predicate.CEL.Index(verdict.Expression), f.Name, verdict.Err)
	})

	for index := range e.snapshot.Unreadable(candidates).EachSet() {
		if e.passesUnreadable(predicate, e.snapshot.ClusterInfo(index)) {
			matching.Set(index)
		}
	}

	return matching
}

// filterTaints removes the clusters with taints that are not tolerated.
func (e *evaluation) filterTaints(p *predicateResult) *feasibleClusters {
	left := &feasibleClusters{indices: p.indices, clusters: p.clusters, avoid: map[string]int{}}

	var forbidden inventory.Members

	for index := range p.tainted.EachSet() {
		f := e.snapshot.ClusterInfo(index)
		taints := e.checkTaints(f)

		switch {
		case taints.forbids >= 0:
			if forbidden == nil {
				forbidden = p.tainted.Clone().ClearAll()
			}

			forbidden.Set(index)

			e.result.taintsChangeAt = earliest(e.result.taintsChangeAt, taints.until)

			continue
		case taints.avoid > 0:
			left.avoid[f.Name] = taints.avoid
		}

		left.until = earliest(left.until, taints.until)
	}

	if forbidden != nil {
		left.indices, left.clusters = p.without(forbidden)
	}

	return left
}

// without returns the clusters and their indices except for the forbidden ones, in their order.
func (p *predicateResult) without(forbidden inventory.Members) (indices []uint, clusters []*clusterinfo.ClusterInfo) {
	most := len(p.indices) - int(forbidden.Count())
	indices, clusters = make([]uint, 0, most), make([]*clusterinfo.ClusterInfo, 0, most)

	for i, index := range p.indices {
		if !forbidden.Test(index) {
			indices, clusters = append(indices, index), append(clusters, p.clusters[i])
		}
	}

	return indices, clusters
}
