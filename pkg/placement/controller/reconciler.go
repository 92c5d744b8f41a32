// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/queue/seats"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// reconciler writes the decisions and the status of Placements.
type reconciler struct {
	*reader

	decider   *decider
	applier   *applier
	tracer    tracer
	conflicts queue.ConflictBackoff[inventory.Key]
	// timeout, which is set, bounds an evaluation with the wait for a seat and the proof of its removals. The writer bounds each of the writes by it,
	// and evaluates again between two of them: a Placement of all clusters of a large hub has a thousand.
	timeout time.Duration
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
			r.decider.restore(ctx, p)
		}
		r.state.Resume(key)
	}()

	c, err := r.plan(ctx, p)
	if errors.Is(err, freshness.ErrObjectChanged) || errors.Is(err, seats.ErrNoSeat) {
		r.state.Queue.Requeue(key, change)
		return r.conflicts.Retry(key), nil
	}
	if err != nil {
		return reconcile.Result{}, r.fail(key, change, span, err)
	}

	err = r.applier.applyTraced(ctx, c)
	carriedOut = err == nil
	r.recordMetrics(change, span, c, err)
	if queue.Terminating(err) {
		klog.FromContext(ctx).V(2).Info("The namespace is being deleted; nothing is left to do")
		return r.conflicts.Result(ctx, key, nil)
	}
	if again, err := r.conflicts.Result(ctx, key, err); err != nil || again.RequeueAfter > 0 {
		return again, err
	}
	return c.next(r.state.clock.Now()), nil
}

func (r *reconciler) plan(ctx context.Context, p *api.Placement) (*cycle, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return r.decider.plan(ctx, p)
}

// fail counts a failed reconcile, keeps its change for the retry, and returns the error.
func (r *reconciler) fail(key inventory.Key, change queue.Change, span span, err error) error {
	r.state.Queue.Requeue(key, change)
	causeOf(change).Evaluated(metrics.Failed)
	span.failed(err)
	return err
}

// recordMetrics counts a reconcile by its cause and outcome.
func (r *reconciler) recordMetrics(change queue.Change, span span, c *cycle, err error) {
	span.wrote(c.Result, c.stats.writes, err)
	if len(c.changes.list) > 0 {
		metrics.Moved(c.changes.count())
	}
	outcome := metrics.Unchanged

	switch {
	case queue.Terminating(err): // There is nothing left to do.
	case queue.Outdated(err):
		outcome = metrics.Outdated
	case err != nil:
		outcome = metrics.Failed
	case c.stats.writes > 0:
		outcome = metrics.Changed
	}

	cause := causeOf(change)
	cause.Evaluated(outcome)
	switch outcome {
	case metrics.Outdated, metrics.Failed:
		r.state.Queue.Requeue(c.placement.Key(), change)
	case metrics.Changed:
		if !change.At.IsZero() {
			cause.ObserveLatency(c.stats.last.Sub(change.At))
		}
	case metrics.Unchanged:
	}
}
