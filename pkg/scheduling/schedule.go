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
	request    *Request
	snapshot   *inventory.Snapshot
	incumbents map[string]bool
	pass       *selector.EvalContext
	result     *Result
	// watch is told of the steps.
	watch Recorder

	// ranked are the feasible clusters, best first, where the selection needs to know of each, each with the stage it came to.
	ranked []Verdict
}

func newEvaluation(request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time) *evaluation {
	return &evaluation{
		request: request, snapshot: snapshot, incumbents: incumbents, pass: &selector.EvalContext{Now: now}, watch: NopRecorder,
		result: &Result{
			Request: request, Generation: snapshot.Generation, Errors: request.Errors, snapshot: snapshot, incumbents: incumbents, now: now,
			details: func() *details { return &details{} },
		},
	}
}

// Schedule answers the request on a snapshot. The incumbents are the clusters in the placement's present decisions; now is the time of
// the evaluation, and the result says when the answer can change by the passing of time alone.
func Schedule(request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time) *Result {
	return ScheduleRecorded(request, snapshot, incumbents, now, NopRecorder)
}

// ScheduleRecorded is Schedule, and tells a stopwatch of its steps.
func ScheduleRecorded(
	request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time, watch Recorder,
) *Result {
	e := newEvaluation(request, snapshot, incumbents, now)
	e.watch = watch
	scope := e.scope()

	if e.result.Stalled() {
		return e.result
	}

	p := e.filter(scope)
	if p == nil {
		return e.hold()
	}

	e.watch.Begin(StepTaintToleration)

	left := e.tolerate(p)

	e.watch.End(StepTaintToleration)

	e.result.stages[StageTaint] = len(p.slots) - len(left.slots)

	field := e.contest()
	e.pass.RequeueAfterChange(left.until)
	field.clusters, field.avoid = left.clusters, left.avoid
	field.candidates = func(yield func(*clusterinfo.ClusterInfo) bool) {
		candidates, _ := snapshot.Candidates(scope)
		for slot := range candidates.EachSet() {
			if !yield(snapshot.ClusterInfo(slot)) {
				return
			}
		}
	}
	field.load = func() (func(int) int, int) {
		load := snapshot.CountsOfOthers(request.Key)

		return func(i int) int { return load.Of(left.slots[i]) }, load.Highest
	}

	e.result.Expired = field.expire(e.pass.RequeueAfterExpiry)
	e.pick(field)
	e.result.RequeueAt = e.wakeAt()

	if e.result.ListsRejections() {
		e.result.causes = sync.OnceValue(func() []Rejection { return e.causes(scope, p) })
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

// hold gives up an evaluation whose CEL expressions cost too much: the verdicts reached so far are no answer. They cost what they do until
// the first of them changes by itself.
func (e *evaluation) hold() *Result {
	held := *e.result
	held.Available, held.EvaluationErrors, held.RequeueAt = 0, nil, e.pass.RequeueAt()
	held.Cost, held.stages = e.pass.Cost(), stageCounts{}
	held.Errors = field.ErrorList{field.Forbidden(field.NewPath("spec", "predicates"), fmt.Sprintf(
		"the CEL expressions cost more than the %d that one evaluation over all clusters may cost: narrow the clusters by labelSelector, "+
			"claimSelector or clusterSets first, or make the expressions cheaper", uint64(selector.MaxCost)))}

	return &held
}

// contest is opened for the clusters that are left.
func (e *evaluation) contest() *candidates {
	c := &candidates{
		request: e.request, snapshot: e.snapshot, incumbents: e.incumbents, now: e.pass.Now, avoid: map[string]int{}, watch: e.watch,
	}
	e.result.Cost = e.pass.Cost()
	e.result.field = c.open()

	return c
}

// noteError counts a failed evaluation. The first cluster by name stands for all.
func (e *evaluation) noteError(path *field.Path, cluster string, err error) {
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

// passing are the clusters that pass scope and predicates, and what else is the same for everybody who asks the same.
type passing struct {
	available, terminating int

	tainted  inventory.Members
	slots    []uint
	clusters []*clusterinfo.ClusterInfo
}

// remaining are the clusters that pass scope, predicates and taints, in the order of their names.
type remaining struct {
	slots    []uint
	clusters []*clusterinfo.ClusterInfo
	avoid    map[string]int
	until    time.Time
}

// filter takes all clusters through scope and predicates; nil when that costs too much.
func (e *evaluation) filter(scope inventory.Scope) *passing {
	e.watch.Begin(StepPredicate)

	p := recall(e, "", func() *passing { return e.passing(scope) }, (*passing).bytes)

	e.watch.End(StepPredicate)

	if e.pass.Exhausted() {
		return nil
	}

	e.result.Available = p.available
	e.result.stages[StageTerminating] = p.terminating
	e.result.stages[StagePredicate] = p.available - len(p.slots)

	return p
}

// recall finds something that is the same for all that ask the same, unless it costs something each time. The size of it is an estimate in
// bytes.
func recall[T any](e *evaluation, about string, find func() T, size func(T) int) T {
	if e.dynamic() {
		return find()
	}

	identity := inventory.RequestIdentity(e.request.ClusterSets, e.request.selectors())

	return inventory.Memoize(e.snapshot, identity, about+strings.Join(e.result.Eligible, "\x00"), find, size)
}

// wakeAt is when the answer can change by itself. What it tells of clusters that are kept out counts while causes are told.
func (e *evaluation) wakeAt() time.Time {
	if e.result.ListsRejections() {
		e.pass.RequeueAfterChange(e.result.forbidsUntil)
	}

	return e.pass.RequeueAt()
}

func (e *evaluation) dynamic() bool {
	return slices.ContainsFunc(e.request.Predicates, func(p Predicate) bool { return p.Selector.HasCEL() })
}

// bytes estimates what the clusters take, without their facts.
func (p *passing) bytes() int {
	const fixed, perCluster, bitsPerByte = 256, 16, 8

	return fixed + len(p.slots)*perCluster + int(p.tainted.Len()/bitsPerByte)
}

func (e *evaluation) passing(scope inventory.Scope) *passing {
	candidates, terminating := e.snapshot.Candidates(scope)
	members, p := candidates, &passing{available: int(candidates.Count()), terminating: terminating}

	if len(e.request.Predicates) > 0 {
		members = e.anyOf(candidates)
	}

	p.tainted = e.snapshot.Tainted(members)
	p.slots = e.snapshot.SortedByName(members)
	p.clusters = e.factsOf(p.slots)

	return p
}

func (e *evaluation) factsOf(slots []uint) []*clusterinfo.ClusterInfo {
	clusters := make([]*clusterinfo.ClusterInfo, 0, len(slots))
	for _, slot := range slots {
		clusters = append(clusters, e.snapshot.ClusterInfo(slot))
	}

	return clusters
}

// anyOf asks each predicate about the clusters that those before it have left.
func (e *evaluation) anyOf(candidates inventory.Members) inventory.Members {
	left, passed := candidates.Clone(), candidates.Clone().ClearAll()

	for _, predicate := range e.request.Predicates {
		matching := e.matching(predicate, left)
		passed.InPlaceUnion(matching)
		left.InPlaceDifference(matching)
	}

	return passed
}

func (e *evaluation) matching(predicate Predicate, candidates inventory.Members) inventory.Members {
	if !predicate.Selector.HasCEL() {
		return e.snapshot.Match(predicate.Selector, candidates)
	}

	e.watch.Begin(StepCEL)
	defer e.watch.End(StepCEL)

	matching := e.snapshot.MatchCEL(predicate.Selector, candidates, e.pass, func(f *clusterinfo.ClusterInfo, verdict selector.Verdict) {
		e.noteError(predicate.CEL.Index(verdict.Expression), f.Name, verdict.Err)
	})

	for slot := range e.snapshot.Unreadable(candidates).EachSet() {
		if e.doubts(predicate, e.snapshot.ClusterInfo(slot)) {
			matching.Set(slot)
		}
	}

	return matching
}

// tolerate leaves out the clusters whose taints forbid them.
func (e *evaluation) tolerate(p *passing) *remaining {
	left := &remaining{slots: p.slots, clusters: p.clusters, avoid: map[string]int{}}

	var forbidden inventory.Members

	for slot := range p.tainted.EachSet() {
		f := e.snapshot.ClusterInfo(slot)
		taints := e.judge(f)

		switch {
		case taints.forbids >= 0:
			if forbidden == nil {
				forbidden = p.tainted.Clone().ClearAll()
			}

			forbidden.Set(slot)

			e.result.forbidsUntil = earliest(e.result.forbidsUntil, taints.until)

			continue
		case taints.avoid > 0:
			left.avoid[f.Name] = taints.avoid
		}

		left.until = earliest(left.until, taints.until)
	}

	if forbidden != nil {
		left.slots, left.clusters = p.without(forbidden)
	}

	return left
}

// without are the clusters without some, in their order.
func (p *passing) without(forbidden inventory.Members) (slots []uint, clusters []*clusterinfo.ClusterInfo) {
	most := len(p.slots) - int(forbidden.Count())
	slots, clusters = make([]uint, 0, most), make([]*clusterinfo.ClusterInfo, 0, most)

	for i, slot := range p.slots {
		if !forbidden.Test(slot) {
			slots, clusters = append(slots, slot), append(clusters, p.clusters[i])
		}
	}

	return slots, clusters
}
