// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Options are the options of the hub that affect decisions. An observer of a hub leaves unknown options nil.
type Options struct {
	// Limit is the removal limit of the hub.
	Limit removalbudget.Limit
	// ProfileDecisions reports whether the decisions of v1beta1 are also written as references to ClusterProfiles. If it is nil, the status
	// keeps its condition about them.
	ProfileDecisions *bool
}

// Evaluation is the result of the pipeline for a Placement: the scheduling Result after the removal budget, the Plan, and the status. The
// controllers apply it, and all other readers only display it.
type Evaluation struct {
	// Result is the Result to apply. If the removal budget blocks it, it keeps the clusters that it would remove.
	Result *scheduling.Result
	// BudgetResult is the result of the removal budget.
	BudgetResult removalbudget.Result
	// Plan has the writes.
	Plan Plan
	// LimitUnknown reports whether the result depends on an option of the hub that is not known.
	LimitUnknown bool

	missing  []string
	profiles *bool
	others   []*api.Page
}

// WithReferences returns the evaluation with the existing references to ClusterProfiles, of which the status names those that other writers have
// made.
func (e Evaluation) WithReferences(references Existing) Evaluation {
	e.others = references.others
	return e
}

// Evaluate runs the pipeline for a Placement: it schedules its Request on a Snapshot, checks the Result against the removal budget, and
// plans the writes; the status is that of Evaluation.Status. It is a pure function.
func Evaluate(
	request *scheduling.Request, snapshot *inventory.Snapshot, existing Existing, options Options, now time.Time,
) Evaluation {
	return evaluate(Schedule(request, snapshot, existing, now), existing, options, now)
}

// Schedule is the first step of the pipeline, without the removal budget. Existing is zero for a request that is not of a Placement.
func Schedule(request *scheduling.Request, snapshot *inventory.Snapshot, existing Existing, now time.Time) *scheduling.Result {
	return scheduling.Schedule(request, snapshot, existing.IncumbentsFor(request, now), now)
}

// Scheduler returns the Result of a Request at a time, given its incumbents.
type Scheduler func(request *scheduling.Request, incumbents scheduling.Incumbents, now time.Time) (*scheduling.Result, error)

// EvaluateWith is Evaluate with another Scheduler, whose error it returns.
func EvaluateWith(
	request *scheduling.Request, schedule Scheduler, existing Existing, options Options, now time.Time,
) (Evaluation, error) {
	result, err := schedule(request, existing.IncumbentsFor(request, now), now)
	if err != nil {
		return Evaluation{}, err
	}
	return evaluate(result, existing, options, now), nil
}

// evaluate runs the pipeline from the Result on.
func evaluate(result *scheduling.Result, existing Existing, options Options, now time.Time) Evaluation {
	e := Evaluation{}
	budget := removalbudget.NewBudget(existing.Placement.RemovalSubject(), options.Limit)
	e.LimitUnknown = budget.Unknown
	e.Result, e.BudgetResult = applyBudget(budget, result, existing, now)
	e.LimitUnknown = e.LimitUnknown || e.BudgetResult.LimitUnknown()
	if stricter, unknown := budget.Stricter(); unknown {
		_, removal := applyBudget(stricter, result, existing, now)
		e.LimitUnknown = e.LimitUnknown || removal.Held != e.BudgetResult.Held
	}
	e.Plan = NewPlan(e.Result, existing, metav1.Time{Time: now})

	if existing.Placement.API == api.V1beta1 {
		e.profiles = options.ProfileDecisions
		if e.profiles != nil && *e.profiles && e.Result.Outcome() == scheduling.Decided {
			e.missing = withoutProfile(e.Result, existing)
		}
	}
	return e
}

// Status returns the status of the Placement after the plan was applied; written reports whether it was applied completely. It returns the
// existing status if that differs only by records that need not be written (see removalbudget.Result.Recorded).
func (e Evaluation) Status(placement *api.Placement, now metav1.Time, written bool) api.Status {
	progress := removalbudget.Progress{Applied: true, Written: written}
	status := NewStatus(e.Result, e.Plan, placement, now, e.conditions(placement, e.BudgetResult.Recorded(progress), written)...)
	if sameStatus(placement.API, placement.Status, status) {
		return status
	}
	return NewStatus(e.Result, e.Plan, placement, now, e.conditions(placement, e.BudgetResult.Record(progress), written)...)
}

// FailedStatus returns the status after the plan could not be applied. Existing has the decisions after the failure (see NewFailedStatus).
func (e Evaluation) FailedStatus(existing Existing, cause string, now metav1.Time) api.Status {
	recorded := e.BudgetResult.Recorded(removalbudget.Progress{})
	return NewFailedStatus(e.Result, existing, cause, now, slices.Concat(recorded, e.BudgetResult.Conditions(false))...)
}

// Reserve returns the existing status with a record of the clusters that the plan removes. It must be written before the plan is applied,
// so that the removals count even if the process ends meanwhile. It returns false when there is nothing to record.
func (e Evaluation) Reserve(placement *api.Placement, now metav1.Time) (api.Status, bool) {
	condition, needed := e.BudgetResult.Reserve()
	if !needed {
		return placement.Status, false
	}
	condition.ObservedGeneration, condition.LastTransitionTime = placement.Generation, now

	// All conditions have the same observedGeneration (docs/spec/differences.md A5), and those of the upstream controller have none.
	if satisfied := meta.FindStatusCondition(placement.Status.Conditions, ConditionSatisfied); satisfied != nil {
		condition.ObservedGeneration = satisfied.ObservedGeneration
	}
	status := placement.Status
	status.Conditions = slices.Clone(status.Conditions)
	at := slices.IndexFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == removalbudget.RecordCondition })
	if at < 0 {
		status.Conditions = append(status.Conditions, condition)
	} else {
		condition.LastTransitionTime = status.Conditions[at].LastTransitionTime
		status.Conditions[at] = condition
	}

	return status, true
}

// conditions returns the conditions that not every Placement has.
func (e Evaluation) conditions(placement *api.Placement, recorded []metav1.Condition, written bool) []metav1.Condition {
	var found []metav1.Condition
	switch {
	case e.profiles == nil:
		found = existingCondition(placement, ConditionProfilesFound)
	case *e.profiles:
		found = ProfilesFound(e.Result, e.missing, e.others, placement)
	}
	return slices.Concat(found, recorded, e.BudgetResult.Conditions(written))
}

// applyBudget checks a result against the removal budget, and returns the result to apply: when the budget is exceeded, one that keeps the
// clusters whose removal the budget blocks.
func applyBudget(
	budget removalbudget.Budget, result *scheduling.Result, existing Existing, now time.Time,
) (*scheduling.Result, removalbudget.Result) {
	if !budget.MayHold() {
		return result, removalbudget.Result{}
	}
	clusters := existing.Incumbents()
	var before *scheduling.Result
	if !budget.SpecApplied && existing.Before != nil && result.Changes(clusters) {
		before = result.For(existing.Before)
	}

	removal := budget.Check(result, before, clusters, now)
	if removal.Held {
		result = result.Hold(clusters, removal.Leaving, removal.RequeueAt)
	}
	return result, removal.Applied(result, clusters, now)
}
