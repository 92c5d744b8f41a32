// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// reconciler keeps the works of objects.
type reconciler struct {
	*hub

	delivery  *delivery
	deletion  *deletion
	reporter  *reporter
	retries   *retries
	conflicts queue.ConflictBackoff[inventory.Key]
}

// newReconciler returns a reconciler that sends Events to a recorder.
func newReconciler(h *hub, limits federation.Limits, waits *retries, recorder events.EventRecorder) *reconciler {
	w := &writer{h}
	return &reconciler{
		hub: h, delivery: &delivery{writer: w, retries: waits, limits: limits}, deletion: &deletion{writer: w, retries: waits},
		reporter:  &reporter{state: h.state, recorder: recorder, changes: newChanges(h.live), clock: h.clock},
		retries:   waits,
		conflicts: queue.NewConflictBackoff[inventory.Key](),
	}
}

// Reconcile evaluates one object and writes its works.
func (r *reconciler) Reconcile(ctx context.Context, key inventory.Key) (reconcile.Result, error) {
	if _, synced := r.state.Begin(key); !synced {
		return reconcile.Result{RequeueAfter: sharedinventory.NotSyncedDelay}, nil
	}
	r.state.Pause(key)
	again, outcome, err := r.reconcile(ctx, key)
	r.state.Resume(key)
	metrics.ObserveFederationEvaluation(outcome)

	result, err := r.conflicts.Result(ctx, key, err)
	if err != nil || result.RequeueAfter > 0 {
		return result, err
	}
	return sharedinventory.After(again), nil
}

// reconcile returns after which time to look again; zero for never.
func (r *reconciler) reconcile(ctx context.Context, key inventory.Key) (time.Duration, metrics.Outcome, error) {
	c, err := r.evaluate(ctx, key)
	if err != nil {
		return 0, metrics.Failed, err
	}

	if c == nil {
		again, err := r.deletion.gone(ctx, key)
		switch {
		case errors.Is(err, errChanged):
			return r.retries.changed.When(key), metrics.Outdated, nil
		case err != nil:
			return 0, metrics.Failed, err
		}
		return again, metrics.Unchanged, nil
	}

	r.state.link(c.key, c.link())
	c.memory.past.OutOfScope = c.StillOutOfScope(c.memory.past.OutOfScope)

	again, err := r.carryOut(ctx, c)
	_, kept := c.KeptByFinalizers(r.clock.Now())
	again = earlier(again, kept)
	if len(c.notes.withdrawn) > 0 {
		r.state.link(c.key, c.link()) // The dependencies leave after the object.
	}
	err = errors.Join(err, r.reporter.report(ctx, c, err == nil))
	switch {
	case errors.Is(err, errChanged): // The events of the change may have been handled before.
		if c.notes.count > 0 {
			r.retries.changed.Forget(key) // What is left of the plan goes on without waiting.
		}
		return r.retries.changed.When(key), metrics.Outdated, nil
	case err != nil:
		return 0, metrics.Failed, err
	}

	r.retries.changed.Forget(key)
	if c.notes.count > 0 {
		return again, metrics.Changed, nil
	}
	return again, metrics.Unchanged, nil
}

// carryOut does what the evaluation says. It returns after which time to look again; zero for never.
func (r *reconciler) carryOut(ctx context.Context, c *cycle) (time.Duration, error) {
	switch c.State {
	case federation.Deleting:
		return r.deletion.delete(ctx, c)
	case federation.Delivering:
		again, err := r.delivery.deliver(ctx, c)
		return again, errors.Join(err, r.delivery.abandon(ctx, c, c.Abandoned()))
	case federation.NotDelivered:
		r.state.Shared.Inventory.Unsubscribe(c.key)
	case federation.Held, federation.Suspended:
		again, err := r.delivery.withdrawLost(ctx, c)
		return again, errors.Join(err, r.delivery.abandon(ctx, c, c.Abandoned())) // Otherwise the namespace of the cluster would not go.
	}

	return 0, nil
}
