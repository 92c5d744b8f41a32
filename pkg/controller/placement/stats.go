package placement

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// due is the cause of a reconcile without a change: a toleration or a score has expired.
var due = metrics.CauseOf("time")

// writeStats has what a reconcile has written.
type writeStats struct {
	clock clock.PassiveClock
	// at is when the last response arrived or the next request may be sent; last is when the last successful response arrived.
	at, last time.Time
	writes   int
}

// begin notes the time before the requests of a plan.
func (d *writeStats) begin(plan decision.Plan) {
	if !plan.Empty() {
		d.at = d.clock.Now()
	}
}

// count counts a request.
func (d *writeStats) count(kind string, err error) {
	now, result := d.clock.Now(), metrics.WriteOK

	switch {
	case decision.Outdated(err):
		result = metrics.WriteOutdated
	case err != nil:
		result = metrics.WriteError
	default:
		d.last = now
		d.writes++
	}

	metrics.ObserveWrite(kind, result, now.Sub(d.at))
	d.at = now
}

// stepTimer records the duration of each step of the scheduler.
type stepTimer struct {
	clock clock.PassiveClock
	// last is when the last step other than StepCEL began or ended; cel is when StepCEL, which is a part of another step, began.
	last, cel time.Time
}

// Begin notes the time at which a step begins.
func (s *stepTimer) Begin(step scheduling.Step) {
	switch step {
	case scheduling.StepTaintToleration: // Begins as soon as the step before it has ended.
	case scheduling.StepCEL:
		s.cel = s.clock.Now()
	default:
		s.last = s.clock.Now()
	}
}

// End records the time since Begin.
func (s *stepTimer) End(step scheduling.Step) {
	now := s.clock.Now()

	if step == scheduling.StepCEL {
		metrics.ObserveStep(step, now.Sub(s.cel))

		return
	}

	metrics.ObserveStep(step, now.Sub(s.last))
	s.last = now
}

// fail counts a failed reconcile, keeps its change for the retry, and returns the error.
func (r *reconciler) fail(key inventory.Key, change queue.Change, span span, err error) error {
	r.state.queue.Requeue(key, change)
	causeOf(change).Evaluated(metrics.Failed)
	span.failed(err)

	return err
}

// recordMetrics counts a reconcile by its cause and outcome.
func (r *reconciler) recordMetrics(change queue.Change, span span, p *cycle, err error) {
	span.wrote(p, err)

	if len(p.changes.list) > 0 {
		metrics.Moved(p.changes.count())
	}

	outcome := metrics.Unchanged

	switch {
	case decision.Terminating(err): // There is nothing left to do.
	case decision.Outdated(err):
		outcome = metrics.Outdated
	case err != nil:
		outcome = metrics.Failed
	case p.stats.writes > 0:
		outcome = metrics.Changed
	}

	cause := causeOf(change)
	cause.Evaluated(outcome)

	switch outcome {
	case metrics.Outdated, metrics.Failed:
		r.state.queue.Requeue(p.placement.Key(), change)
	case metrics.Changed:
		if !change.At.IsZero() {
			cause.ObserveLatency(p.stats.last.Sub(change.At))
		}
	case metrics.Unchanged:
	}
}

func causeOf(change queue.Change) *metrics.Cause {
	if change.Cause == nil {
		return due
	}

	return change.Cause
}

// standing returns the state of a Placement for the gauges.
func standing(result *scheduling.Result, status api.Status) metrics.Standing {
	is := metrics.Standing{
		Misconfigured: meta.IsStatusConditionTrue(status.Conditions, decision.ConditionMisconfigured),
		Stalled:       result.Outcome() != scheduling.Decided,
		Postponed:     result.Postponement() != nil,
		Decisions:     status.Selected,
		StaleScores:   result.Expired,
	}

	if satisfied := meta.FindStatusCondition(status.Conditions, decision.ConditionSatisfied); satisfied != nil {
		is.Satisfied, is.Reason = satisfied.Status == metav1.ConditionTrue, satisfied.Reason
	}

	for _, group := range slices.Concat(status.Groups, status.Unlisted) {
		is.Pages += len(group.Pages)
	}

	for i, stage := range scheduling.Stages() {
		is.Stages[i] = result.Count(stage)
	}

	for _, failed := range result.EvaluationErrors {
		is.CELErrors += failed.Clusters
	}

	return is
}
