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
	// limits are Options.MaxRemovalPercent and Options.ScopeHold.
	limits federation.Limits
}

// deliver writes the works of the selected clusters, and withdraws the others. It returns after which time to look again.
func (d *delivery) deliver(ctx context.Context, p *cycle) (time.Duration, error) {
	plan, err := p.Plan(func(variant federation.Variant) (string, error) { return d.hash(ctx, p, variant) })
	if tooLarge, is := errors.AsType[*federation.TooLargeError](err); is {
		p.notes.tooLarge = tooLarge

		return d.lose(ctx, p, plan) // A change of the object ends it.
	}

	if err != nil {
		return 0, err
	}

	p.notes.taken = plan.Conflicts

	failed := d.gain(ctx, p, plan)
	if errors.Is(failed, errChanged) {
		return 0, failed
	}

	again, err := d.lose(ctx, p, plan)
	if err := errors.Join(failed, err); err != nil {
		return 0, err
	}

	if len(p.notes.taken) > 0 {
		again = earlier(again, conflictRetry)
	}

	if len(p.notes.missed) > 0 {
		again = earlier(again, d.retries.missed.When(p.key))
		p.notes.told = d.retries.missed.NumRequeues(p.key) > toldMissed
	} else {
		d.retries.missed.Forget(p.key)
	}

	if len(plan.Lose) == len(p.notes.withdrawn) && len(plan.Waiting) == 0 && len(p.notes.taken) == 0 && len(p.notes.missed) == 0 {
		p.memory.past.Target, p.memory.past.Selected = p.OwnTarget(), p.Target.String()
	}

	return again, nil
}

// withdrawLost withdraws the works of clusters that have left the scope of an object that is held or suspended.
func (d *delivery) withdrawLost(ctx context.Context, p *cycle) (time.Duration, error) {
	plan, err := p.Plan(nil)
	if err != nil {
		return 0, err
	}

	return d.lose(ctx, p, plan)
}

// gain adds the finalizer and writes the works of the clusters that gain the object, and then of those that get fewer replicas. It notes the
// clusters whose writes have failed.
func (d *delivery) gain(ctx context.Context, p *cycle, plan federation.WorkPlan) error {
	if len(plan.Gain) == 0 && len(plan.Reduce) == 0 {
		return nil
	}

	if err := d.prepareGain(ctx, p); err != nil {
		p.notes.failed = slices.Concat(plan.Gain, plan.Reduce)

		return err
	}

	write := func(ctx context.Context, cluster string) error { return d.apply(ctx, p, cluster) }
	if err := d.each(ctx, plan.Gain, write); err != nil {
		return err
	}

	p.removal.ProvedAt = d.clock.Now() // The replicas of a plan need no proof.

	return d.remove(ctx, p, plan.Reduce, write)
}

// prepareGain reads the payload, and adds the finalizer to the object.
func (d *delivery) prepareGain(ctx context.Context, p *cycle) error {
	if err := d.loadPayload(ctx, p); err != nil {
		return err
	}

	return d.addFinalizer(ctx, p)
}

// lose withdraws works, as far as federation.Evaluation.Outcome and the proof of the view allow.
func (d *delivery) lose(ctx context.Context, p *cycle, plan federation.WorkPlan) (time.Duration, error) {
	now := d.clock.Now()
	outcome := p.Outcome(plan, p.notes.unserved(), d.limits, p.memory.past, now)
	p.memory.past = outcome.Past
	p.notes.heldReason, p.notes.held = outcome.Reason, outcome.Note()

	if len(outcome.Allowed) == 0 {
		d.retries.postponed.Forget(p.key)

		return outcome.Wait(now), nil
	}

	postponed, err := d.prove(ctx, p, &outcome, plan.Gain)
	again := earlier(outcome.Wait(now), postponed)

	if err != nil || len(outcome.Allowed) == 0 {
		return again, err
	}

	// A list of a watch that is opened again shows the cluster that loses the object before the one that gains it.
	if d.state.Queue.Queued(p.key) && d.retries.changed.NumRequeues(p.key) < maxNewer {
		return 0, errChanged
	}

	err = d.remove(ctx, p, outcome.Allowed, func(ctx context.Context, cluster string) error { return d.withdraw(ctx, p, cluster) })
	p.memory.past = outcome.Withdrew(p.notes.withdrawn, now)

	return again, err
}

// prove drops from the outcome what is not proved, and returns after which time to try again; zero if all is proved.
func (d *delivery) prove(ctx context.Context, p *cycle, outcome *federation.Outcome, gained []string) (time.Duration, error) {
	proved, err := d.proved(ctx, p, &outcome.Removal, gained)

	switch {
	case err != nil:
		return 0, err
	case !proved:
		return d.retries.postponed.When(p.key), nil
	default:
		d.retries.postponed.Forget(p.key)

		return 0, nil
	}
}

// proved compares the evaluation with the latest state of what decides about the clusters that lose or gain the object, and drops from the
// removal what is not proved. It reports whether all is. The error is errChanged when the evaluation has to be made again.
func (d *delivery) proved(ctx context.Context, p *cycle, lost *federation.Removal, gained []string) (bool, error) {
	removal := freshness.Removal{
		Object: freshness.Object{Resource: resourceOf(p.Object.Kind), NamespacedName: p.key.NamespacedName},
		Since:  p.shown, Reads: p.Reads(),
		Meta: p.Object.Meta, Annotations: federation.HubAnnotations, Clusters: slices.Concat(lost.Allowed, gained),
		AnyScope: !lost.ForScope(),
		Others:   []freshness.Object{{Resource: namespaceResource, NamespacedName: types.NamespacedName{Name: p.key.Namespace}}},
	}

	p.removal.ProvedAt = d.clock.Now()
	err := d.state.Shared.Checker.Prove(ctx, removal)

	switch {
	case errors.Is(err, freshness.ErrObjectChanged), errors.Is(err, freshness.ErrViewChanged):
		return false, errChanged
	case err != nil:
		p.notes.held = fmt.Sprintf("nothing is withdrawn until the hub is known to have the latest state: %v", err)
		lost.Allowed = nil

		return false, nil
	}

	proved := d.decisionsProved(ctx, p)
	if !proved {
		lost.OnlyScope() // The decisions of a Placement say nothing about the others.
	}

	return proved, nil
}

// decisionsProved reports whether the decisions that the object follows are those of the API server.
func (d *delivery) decisionsProved(ctx context.Context, p *cycle) bool {
	if p.Target.Placement == "" || p.State != federation.Delivering {
		return true
	}

	live := decisionsOf(ctx, d.live, types.NamespacedName{Namespace: p.key.Namespace, Name: p.Target.Placement})

	switch {
	case live.err != nil:
		p.notes.held = "nothing is withdrawn until the decisions can be read: " + live.err.Error()
	case live.Problem != "" || live.versions() != p.followed.versions():
		p.notes.held = "nothing is withdrawn until the watch has shown the latest decisions"
	default:
		return true
	}

	return false
}

// withdraw deletes the work of a cluster.
func (d *delivery) withdraw(ctx context.Context, p *cycle, cluster string) error {
	if err := d.deleteWork(ctx, p, cluster); err != nil {
		return err
	}

	p.notes.withdrew(cluster)

	return nil
}
