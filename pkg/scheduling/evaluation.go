// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// evaluation is the state of one call of Schedule or Reference.
type evaluation struct {
	request     *Request
	snapshot    *inventory.Snapshot
	incumbents  Incumbents
	evalContext *selector.EvalContext
	result      *Result
	// recorder receives the steps.
	recorder Recorder

	// costs are the costs of the predicates, which the reference adds up cluster by cluster.
	costs []uint64

	// scope are the clusters of the sets that are bound and selected.
	scope inventory.Scope
}

// newEvaluation returns an evaluation with its scope. Its Result is Invalid if the Request or a set in scope is.
func newEvaluation(request *Request, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time) *evaluation {
	e := &evaluation{
		request: request, snapshot: snapshot, incumbents: incumbents, recorder: NopRecorder,
		evalContext: &selector.EvalContext{Now: now, Done: snapshot.Done(), Yield: snapshot.Yield()},
		scope:       snapshot.Scope(request.Key.Namespace, request.ClusterSets),
		result: &Result{
			Request: request, Generation: snapshot.Generation, Errors: request.Errors,
			snapshot: snapshot.WithDone(nil), incumbents: incumbents, now: now,
			stages: stageCounts{}, details: func() *details { return &details{} },
		},
	}
	e.result.Bound = e.scope.Bound
	for _, set := range e.scope.Eligible {
		e.result.Eligible = append(e.result.Eligible, set.Name)
		if set.Err != nil {
			e.result.BrokenSets = append(e.result.BrokenSets, set)
		}
	}

	return e
}

// memoize returns the result of find from the cache of the Snapshot, which is shared by Requests with the same sets and predicates.
// Predicates with CEL are evaluated each time. The function size estimates the size of the result in bytes.
func memoize[T any](e *evaluation, about string, find func() T, size func(T) int) T {
	if e.dynamic() {
		return find()
	}
	identity := inventory.RequestIdentity(e.request.ClusterSets, e.request.selectors())
	return inventory.Memoize(e.snapshot, identity, about+"\x00"+strings.Join(e.result.Eligible, "\x00"), find, size)
}

func (e *evaluation) dynamic() bool {
	return slices.ContainsFunc(e.request.Predicates, func(p Predicate) bool { return p.Selector.HasCEL() })
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

// requeueAt returns the earliest time at which the Result can change without an event. Rejected clusters count only while the status lists
// rejections.
func (e *evaluation) requeueAt() time.Time {
	if e.result.ListsRejections() {
		e.evalContext.RequeueAfterChange(e.result.taintsChangeAt)
	}
	return e.evalContext.RequeueAt()
}

// ended reports whether the evaluation ended early, because its CEL expressions cost too much or because it was cancelled.
func (e *evaluation) ended() bool { return e.evalContext.Exhausted() || e.evalContext.Cancelled() }

// endedResult returns the Result of an evaluation that ended early: an error instead of a selection. If the CEL expressions cost too much,
// RequeueAt is the time at which the first of the evaluated expressions can change, because the cost stays the same until then.
func (e *evaluation) endedResult() *Result {
	if !e.evalContext.Exhausted() {
		return e.withoutAnswer(field.InternalError(field.NewPath("spec", "predicates"), errCancelled))
	}
	result := e.withoutAnswer(field.Forbidden(field.NewPath("spec", "predicates"), costExceeded))
	result.costExceeded = true
	return result
}

// withoutAnswer returns a Result that has an error instead of a selection.
func (e *evaluation) withoutAnswer(mistake *field.Error) *Result {
	result := *e.result
	result.Available, result.EvaluationErrors, result.RequeueAt = 0, nil, e.evalContext.RequeueAt()
	result.Cost, result.stages = e.evalContext.Cost(), nil
	result.Errors = field.ErrorList{mistake}
	return &result
}

// errCancelled is the error of an evaluation that was cancelled. The caller that has cancelled it drops the Result.
var errCancelled = errors.New("the evaluation was cancelled")

// costExceeded is what a user should do about CEL expressions that cost too much.
var costExceeded = fmt.Sprintf("the CEL expressions cost more than an evaluation over all clusters may cost, %d for a predicate and %d for all of "+
	"them: narrow the clusters by labelSelector, claimSelector or clusterSets first, or make the expressions cheaper",
	uint64(selector.MaxSelectorCost), uint64(selector.MaxCost))
