package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// placementField indexes PlacementDecisions by the placements they may belong to.
const placementField = "placement"

// reconciler writes the decisions and the status of Placements.
type reconciler struct {
	// state is shared with the event handlers.
	state  *state
	client client.Client
	// live reads from the API server itself, and not from the cache.
	live      client.Reader
	engine    engine
	writer    placement.Writer
	reporter  recorders
	tracer    tracer
	clock     clock.PassiveClock
	conflicts queue.ConflictBackoff[inventory.Key]
	removals  removals
}

// Reconcile evaluates one placement and has the answer written.
func (r *reconciler) Reconcile(ctx context.Context, key inventory.Key) (reconcile.Result, error) {
	change, synced := r.state.Begin(key)
	if !synced {
		metrics.NotSynced.Inc()

		return reconcile.Result{RequeueAfter: sharedinventory.NotSyncedDelay}, nil
	}

	ctx, span := r.tracer.reconcile(ctx, key, change)
	defer span.End()

	p, err := r.placement(ctx, key)
	if err != nil {
		return reconcile.Result{}, r.fail(key, change, span, err)
	}

	switch {
	case p == nil:
		r.state.forget(key)

		return r.conflicts.Result(ctx, key, nil)
	case !managed(p):
		r.state.skip(p)

		return r.conflicts.Result(ctx, key, nil)
	}

	carriedOut := false

	r.state.Pause(key)

	defer func() {
		if !carriedOut {
			r.restore(ctx, p)
		}

		r.state.Resume(key)
	}()

	pass, err := r.plan(ctx, p)
	if errors.Is(err, freshness.ErrObjectChanged) {
		r.state.Queue.Requeue(key, change)

		return r.conflicts.Retry(key), nil
	}

	if err != nil {
		return reconcile.Result{}, r.fail(key, change, span, err)
	}

	err = r.applyTraced(ctx, pass)
	carriedOut = err == nil
	r.recordMetrics(change, span, pass, err)

	if queue.Terminating(err) {
		klog.FromContext(ctx).V(2).Info("The namespace is being deleted; nothing is left to do")

		return r.conflicts.Result(ctx, key, nil)
	}

	if again, err := r.conflicts.Result(ctx, key, err); err != nil || again.RequeueAfter > 0 {
		return again, err
	}

	return pass.next(r.clock.Now()), nil
}

// cycle is one reconcile of a Placement.
type cycle struct {
	placement.Evaluation

	// placement is the Placement with its latest known status.
	placement *api.Placement
	// outputs are the plans by format; the first one is in the API of the Placement.
	outputs []output
	// provedAt is when the removals of the plan were proved.
	provedAt time.Time
	// stats counts the requests, changes has the pages that were written, and refused the objects that conflicted.
	stats   writeStats
	changes pageChanges
	refused refused
}

// output is what to write in one format.
type output struct {
	present placement.Existing
	plan    placement.Plan
}

func (p *cycle) own() *output { return &p.outputs[0] }

// next returns when the Placement has to be reconciled again without an event.
func (p *cycle) next(now time.Time) reconcile.Result {
	wake := p.Result.RequeueAt
	if due := p.own().plan.RequeueAt; wake.IsZero() || !due.IsZero() && due.Before(wake) {
		wake = due
	}

	for _, output := range p.outputs {
		if output.plan.Requeue {
			wake = now
		}
	}

	if p.deletesForNewSpec() || p.joinsWhileHeld() {
		wake = now
	}

	if wake.IsZero() {
		return reconcile.Result{}
	}

	return sharedinventory.After(max(wake.Sub(now), time.Nanosecond))
}

// fail counts a failed reconcile, keeps its change for the retry, and returns the error.
func (r *reconciler) fail(key inventory.Key, change queue.Change, span span, err error) error {
	r.state.Queue.Requeue(key, change)
	causeOf(change).Evaluated(metrics.Failed)
	span.failed(err)

	return err
}

// recordMetrics counts a reconcile by its cause and outcome.
func (r *reconciler) recordMetrics(change queue.Change, span span, p *cycle, err error) {
	span.wrote(p.Result, p.stats.writes, err)

	if len(p.changes.list) > 0 {
		metrics.Moved(p.changes.count())
	}

	outcome := metrics.Unchanged

	switch {
	case queue.Terminating(err): // There is nothing left to do.
	case queue.Outdated(err):
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
		r.state.Queue.Requeue(p.placement.Key(), change)
	case metrics.Changed:
		if !change.At.IsZero() {
			cause.ObserveLatency(p.stats.last.Sub(change.At))
		}
	case metrics.Unchanged:
	}
}

// deletesForNewSpec reports whether pages are deleted for a changed spec, after the status was written. Until they are gone the removal
// budget is not in force, and once they are gone a condition has to be written.
func (p *cycle) deletesForNewSpec() bool {
	return p.Removal.SpecChanged() && len(p.own().plan.Deletes) > 0
}

// joinsWhileHeld reports whether decisions were written while a removal is blocked: clusters that have joined change when it is not.
func (p *cycle) joinsWhileHeld() bool { return p.Removal.Blocked && len(p.changes.list) > 0 }

// holdBegins reports whether a removal is blocked that was not blocked before.
func (p *cycle) holdBegins() bool {
	return p.Removal.Blocked && !meta.IsStatusConditionTrue(p.placement.Status.Conditions, removalbudget.Condition)
}

// writeStats has what a reconcile has written.
type writeStats struct {
	clock clock.PassiveClock
	// at is when the last response arrived or the next request may be sent; last is when the last successful response arrived.
	at, last time.Time
	writes   int
}

// begin notes the time before the requests of a plan.
func (d *writeStats) begin(plan placement.Plan) {
	if !plan.Empty() {
		d.at = d.clock.Now()
	}
}

// count counts a request.
func (d *writeStats) count(kind string, err error) {
	now, result := d.clock.Now(), metrics.WriteOK

	switch {
	case queue.Outdated(err):
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

// graceTimeout bounds what follows the writes of the decisions in the API of the Placement.
const graceTimeout = 5 * time.Second

// grace returns a context with graceTimeout, also when the deadline of the reconcile has passed.
func grace(ctx context.Context) (context.Context, context.CancelFunc) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		ctx = context.WithoutCancel(ctx)
	}

	return context.WithTimeout(ctx, graceTimeout)
}
