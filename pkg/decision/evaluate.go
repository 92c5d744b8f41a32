package decision

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Options are how a hub evaluates placements. Whoever sees a hub from outside leaves nil what it does not know.
type Options struct {
	// Limit bounds what may leave the decisions of a placement.
	Limit guard.Limit
	// ProfileDecisions says whether the decisions of v1beta1 are written as references to ClusterProfiles too. Where it is nil, the status keeps
	// what it says of them.
	ProfileDecisions *bool
}

// Evaluation is what a hub makes of the result of the engine for one placement: it is withheld if it removes too much, it is turned into a plan,
// and that into a status. The controllers carry an Evaluation out, and everybody else shows one.
type Evaluation struct {
	// Result is what is carried out; one that is withheld selects nothing.
	Result *scheduling.Result
	// Removal is what the guard says of the result of the engine.
	Removal guard.Removal
	// Plan is what to write.
	Plan Plan
	// LimitUnknown says that what the hub was started with decides whether the result is withheld, and that nobody told it.
	LimitUnknown bool

	missing  []string
	profiles *bool
}

// Evaluate makes an Evaluation of the result of an engine and the present decisions at a time. It has no effects.
func Evaluate(result *scheduling.Result, present Present, options Options, now time.Time) Evaluation {
	e := Evaluation{}
	budget := guard.NewBudget(present.Placement, options.Limit)
	e.LimitUnknown = budget.Unknown
	e.Result, e.Removal = applyBudget(budget, result, present, now)

	if stricter, unknown := budget.Stricter(); unknown {
		_, removal := applyBudget(stricter, result, present, now)
		e.LimitUnknown = e.LimitUnknown || removal.Held != e.Removal.Held
	}

	e.Plan = NewPlan(e.Result, present, metav1.Time{Time: now})

	if present.Placement.API == record.V1beta1 {
		e.profiles = options.ProfileDecisions

		if e.profiles != nil && *e.profiles && !e.Result.Stalled() {
			e.missing = withoutProfile(e.Result, present)
		}
	}

	return e
}

// Status is the status of the placement at a time, once the plan is carried out; written says that it is wholly. It is the present status
// where nothing differs but departures that do not count any more (see guard.Ruling.Recorded).
func (e Evaluation) Status(placement *record.Placement, now metav1.Time, written bool) record.Status {
	status := NewStatus(e.Result, e.Plan, placement, now, e.conditions(placement, e.Removal.Recorded(true), written)...)
	if sameStatus(placement.API, placement.Status, status) {
		return status
	}

	return NewStatus(e.Result, e.Plan, placement, now, e.conditions(placement, e.Removal.Record(true), written)...)
}

// FailedStatus is the status when the plan could not be carried out, of which the present decisions stand (see NewFailedStatus).
func (e Evaluation) FailedStatus(present Present, cause string, now metav1.Time) record.Status {
	return NewFailedStatus(e.Result, present, cause, now, slices.Concat(e.Removal.Recorded(false), e.Removal.Conditions(false))...)
}

// Reserve is the present status with a record of the clusters that are about to leave. It has to be written before the plan is carried out, so
// that they count as removed wherever that ends; false when there is nothing to record.
func (e Evaluation) Reserve(placement *record.Placement, now metav1.Time) (record.Status, bool) {
	condition, needed := e.Removal.Reserve()
	if !needed {
		return placement.Status, false
	}

	condition.ObservedGeneration, condition.LastTransitionTime = placement.Generation, now

	// All conditions are about one generation (docs/spec/differences.md A5), and those of the upstream controller do not say about which.
	if satisfied := meta.FindStatusCondition(placement.Status.Conditions, ConditionSatisfied); satisfied != nil {
		condition.ObservedGeneration = satisfied.ObservedGeneration
	}

	status := placement.Status
	status.Conditions = slices.Clone(status.Conditions)
	at := slices.IndexFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == guard.RecordCondition })

	if at < 0 {
		status.Conditions = append(status.Conditions, condition)
	} else {
		condition.LastTransitionTime = status.Conditions[at].LastTransitionTime
		status.Conditions[at] = condition
	}

	return status, true
}

// conditions are those beside the ones that every placement has.
func (e Evaluation) conditions(placement *record.Placement, recorded []metav1.Condition, written bool) []metav1.Condition {
	var found []metav1.Condition

	switch {
	case e.profiles == nil:
		found = existingCondition(placement, ConditionProfilesFound)
	case *e.profiles:
		found = ProfilesFound(e.Result, e.missing, placement)
	}

	return slices.Concat(found, recorded, e.Removal.Conditions(written))
}

// applyBudget is a result as it is to be carried out: withheld when the guard of the placement holds it, and as it is otherwise.
func applyBudget(budget guard.Budget, result *scheduling.Result, present Present, now time.Time) (*scheduling.Result, guard.Removal) {
	if !budget.Enabled() {
		return result, guard.Removal{}
	}

	removal := budget.Check(result, present.writableClusters(), now)
	if removal.Held {
		result = result.Blocked(removal.RequeueAt)
	}

	return result, removal
}

// writableClusters are the clusters in the pages that can be written. What stands only in one that is being deleted goes with it, whatever the answer.
func (p Present) writableClusters() map[string]bool {
	decided := make(map[string]bool, p.count())

	for _, page := range p.Pages {
		for i := range page.Decisions {
			decided[page.Decisions[i].Cluster] = true
		}
	}

	return decided
}
