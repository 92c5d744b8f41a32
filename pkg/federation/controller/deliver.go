// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

const (
	// maxNewer is how often in a row an object is evaluated again because of events that arrived while its withdrawals were proved.
	maxNewer = 3
	// toldMissed is after how many retries an Event tells of the namespace: that of a new cluster appears soon after it.
	toldMissed = 4
)

// delivery makes the works of an object follow the clusters that are selected.
type delivery struct {
	*writer

	retries *retries
	// limits are Options.Limits.
	limits federation.Limits
}

// deliver writes the works of the selected clusters, and withdraws the others. It returns after which time to look again.
func (d *delivery) deliver(ctx context.Context, c *cycle) (time.Duration, error) {
	plan, err := c.Plan(func(variant federation.Variant) (string, error) { return d.hash(ctx, c, variant) })
	if tooLarge, is := errors.AsType[*federation.TooLargeError](err); is {
		c.notes.tooLarge = tooLarge
		return d.lose(ctx, c, plan) // A change of the object ends it.
	}
	if err != nil {
		return 0, err
	}
	c.notes.taken = plan.Conflicts
	if err := d.adopt(ctx, c); err != nil {
		return 0, err
	}

	failed := d.gain(ctx, c, plan)
	c.memory.past = c.Gained(c.memory.past, c.notes.delivered, d.clock.Now())
	if errors.Is(failed, errChanged) {
		return 0, failed
	}
	// A cluster without a namespace gains nothing, and so replaces no other one.
	plan.Gain = slices.DeleteFunc(plan.Gain, func(cluster string) bool { return slices.Contains(c.notes.missed, cluster) })
	again, err := d.lose(ctx, c, plan)
	if err := errors.Join(failed, err); err != nil {
		return 0, err
	}

	if len(c.notes.taken) > 0 {
		again = earlier(again, conflictRetry)
	}
	if len(c.notes.missed) > 0 {
		again = earlier(again, d.retries.missed.When(c.key))
		c.notes.told = d.retries.missed.NumRequeues(c.key) > toldMissed
	} else {
		d.retries.missed.Forget(c.key)
	}

	if len(plan.Lose) == len(c.notes.withdrawn) && len(plan.Waiting) == 0 && len(c.notes.taken) == 0 && len(c.notes.missed) == 0 {
		c.memory.past.Target, c.memory.past.Selected = c.OwnTarget(), c.Target.String()
	}
	return again, nil
}

// withdrawLost withdraws the works of clusters that have left the scope of an object that is held or suspended.
func (d *delivery) withdrawLost(ctx context.Context, c *cycle) (time.Duration, error) {
	plan, err := c.Plan(nil)
	if err != nil {
		return 0, err
	}
	return d.lose(ctx, c, plan)
}

// gain adds the finalizer and writes the works of the clusters that gain the object, and then of those that get fewer replicas. It notes the
// clusters whose writes have failed.
func (d *delivery) gain(ctx context.Context, c *cycle, plan federation.WorkPlan) error {
	if len(plan.Gain) == 0 && len(plan.Reduce) == 0 {
		return nil
	}
	if err := d.prepareGain(ctx, c); err != nil {
		c.notes.failed = slices.Concat(plan.Gain, plan.Reduce)
		return err
	}

	write := func(ctx context.Context, cluster string) error { return d.apply(ctx, c, cluster) }
	if err := d.each(ctx, plan.Gain, write); err != nil {
		return err
	}
	c.removal.ProvedAt = d.clock.Now() // The replicas of a plan need no proof.
	return d.remove(ctx, c, plan.Reduce, write)
}

// adopt adds the finalizer to an object whose works a tool has restored. No work may have to be written that would add it, and works that were
// restored stay when an object without it is gone.
func (d *delivery) adopt(ctx context.Context, c *cycle) error {
	if slices.ContainsFunc(c.Works, func(work federation.ExistingWork) bool { return work.Restored }) {
		return d.addFinalizer(ctx, c)
	}
	return nil
}

// prepareGain reads the payload, and adds the finalizer to the object.
func (d *delivery) prepareGain(ctx context.Context, c *cycle) error {
	if err := d.loadPayload(ctx, c); err != nil {
		return err
	}
	return d.addFinalizer(ctx, c)
}

// lose withdraws works, as far as federation.Evaluation.Outcome and the proof of the view allow.
func (d *delivery) lose(ctx context.Context, c *cycle, plan federation.WorkPlan) (time.Duration, error) {
	now := d.clock.Now()
	outcome := c.Outcome(plan, c.notes.unserved(), d.limits, c.memory.past, now)
	c.memory.past = outcome.Past
	c.notes.heldReason, c.notes.held = outcome.Reason, outcome.Note()
	if len(outcome.Allowed) == 0 {
		d.retries.postponed.Forget(c.key)
		return outcome.Wait(now), nil
	}
	postponed, err := d.prove(ctx, c, &outcome, plan.Gain)
	again := earlier(outcome.Wait(now), postponed)
	if err != nil || len(outcome.Allowed) == 0 {
		return again, err
	}

	// A list of a watch that is opened again shows the cluster that loses the object before the one that gains it.
	if d.state.Queue.Queued(c.key) && d.retries.changed.NumRequeues(c.key) < maxNewer {
		return 0, errChanged
	}
	err = d.remove(ctx, c, outcome.Allowed, func(ctx context.Context, cluster string) error { return d.withdraw(ctx, c, cluster) })
	c.memory.past = outcome.Withdrew(c.notes.withdrawn, now)
	return again, err
}

// prove drops from the outcome what is not proved, and returns after which time to try again; zero if all is proved.
func (d *delivery) prove(ctx context.Context, c *cycle, outcome *federation.Outcome, gained []string) (time.Duration, error) {
	proved, err := d.proved(ctx, c, &outcome.Withdrawal, gained)
	switch {
	case err != nil:
		return 0, err
	case !proved:
		return d.retries.postponed.When(c.key), nil
	default:
		d.retries.postponed.Forget(c.key)
		return 0, nil
	}
}

// proved compares the evaluation with the latest state of what decides about the clusters that lose or gain the object, and drops from the
// removal what is not proved. It reports whether all is. The error is errChanged when the evaluation has to be made again.
func (d *delivery) proved(ctx context.Context, c *cycle, lost *federation.Withdrawal, gained []string) (bool, error) {
	withdrawal := freshness.ProofRequest{
		Object: freshness.Object{Resource: resourceOf(c.Object.Kind), NamespacedName: c.key.NamespacedName},
		Since:  c.shown, Reads: c.Reads(),
		Meta: c.Object.Meta, Annotations: federation.HubAnnotations, Clusters: slices.Concat(lost.Allowed, gained),
		AnyScope: !lost.ForScope(),
		// The view has neither the decisions of a followed Placement nor the objects that use a ConfigMap or a Secret.
		Unobserved: c.Target.Placement != "" || federation.CanBePropagated(string(c.key.GroupKind)),
		Others:     []freshness.Object{{Resource: namespaceResource, NamespacedName: types.NamespacedName{Name: c.key.Namespace}}},
	}

	c.removal.ProvedAt = d.clock.Now()
	err := d.state.Shared.Checker.Prove(ctx, withdrawal)
	switch {
	case errors.Is(err, freshness.ErrObjectChanged), errors.Is(err, freshness.ErrViewChanged):
		return false, errChanged
	case err != nil:
		c.notes.held = fmt.Sprintf("nothing is withdrawn until the hub is known to have the latest state: %v", err)
		lost.Allowed = nil
		return false, nil
	}

	proved := d.decisionsProved(ctx, c)
	if !proved {
		lost.OnlyScope() // The decisions of a Placement say nothing about the others.
	}
	return proved, nil
}

// decisionsProved reports whether the decisions that the object follows are those of the API server.
func (d *delivery) decisionsProved(ctx context.Context, c *cycle) bool {
	if c.Target.Placement == "" || c.State != federation.Delivering {
		return true
	}
	live := decisionsOf(ctx, d.live, types.NamespacedName{Namespace: c.key.Namespace, Name: c.Target.Placement})
	switch {
	case live.err != nil:
		c.notes.held = "nothing is withdrawn until the decisions can be read: " + live.err.Error()
	case live.Problem != "" || live.versions() != c.followed.versions():
		c.notes.held = "nothing is withdrawn until the watch has shown the latest decisions"
	default:
		return true
	}

	return false
}

// withdraw deletes the work of a cluster.
func (d *delivery) withdraw(ctx context.Context, c *cycle, cluster string) error {
	if err := d.deleteWork(ctx, c, cluster); err != nil {
		return err
	}
	c.notes.withdrew(cluster)
	return nil
}
