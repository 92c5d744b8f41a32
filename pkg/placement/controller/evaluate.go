// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue/seats"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// decider evaluates Placements: it proves the removals of a Result, and counts the Result before it is written.
type decider struct {
	*reader

	engine   engine
	removals removals
	seats    *seats.Seats
	tracer   tracer
}

// plan evaluates the Placement and compares the result with the existing decisions.
func (d *decider) plan(ctx context.Context, object *api.Placement) (*cycle, error) {
	// The former Request of a changed Placement is known from then on. It can be slow to compile CEL.
	if err := d.seated(ctx, object.Key(), func(func()) { d.state.requests.of(object) }); err != nil {
		return nil, err
	}
	existing, err := d.existing(ctx, object.API.Codec(), object)
	if err != nil {
		return nil, err
	}
	now := d.state.clock.Now()

	evaluation, err := d.schedule(ctx, object, existing, now)
	if err != nil {
		return nil, err
	}
	c := &cycle{
		Evaluation: evaluation, placement: object, outputs: []output{{present: existing, plan: evaluation.Plan}},
		stats: writeStats{clock: d.state.clock}, provedAt: d.state.clock.Now(),
	}
	metrics.ObserveScheduling(d.state.clock.Since(now))
	metrics.ObserveResult(c.Result)

	if !d.state.served.writesProfiles(object.Key()) {
		return c, nil
	}
	references, err := d.existing(ctx, Multicluster, object)
	if err != nil {
		return nil, err
	}
	c.Evaluation = c.WithReferences(references)
	response, _ := placement.Profiles(c.Result, existing, references)
	c.outputs = append(c.outputs, output{present: references, plan: response.Plan()})
	return c, nil
}

// schedule evaluates the Placement, with a Result whose removals are proved. If the status needs new subscriptions and an event arrived
// before they were made, it evaluates again.
func (d *decider) schedule(
	ctx context.Context, p *api.Placement, existing placement.Existing, now time.Time,
) (placement.Evaluation, error) {
	key, request := p.Key(), d.state.requests.of(p)
	for {
		var (
			incumbents scheduling.Incumbents
			plan       span
		)

		scheduler := func(request *scheduling.Request, all scheduling.Incumbents, now time.Time) (*scheduling.Result, error) {
			incumbents = all
			result, err := d.decideProved(ctx, p, existing, request, all, now)
			if err == nil {
				_, plan = d.tracer.begin(ctx, "plan", key)
			}
			return result, err
		}

		evaluation, err := placement.EvaluateWith(request, scheduler, existing, d.state.served.options(), now)
		if err != nil {
			return placement.Evaluation{}, err
		}
		plan.planned(&evaluation)
		plan.End()
		if evaluation.Result.Outcome() != scheduling.Decided {
			d.assume(key, evaluation.Result, incumbents.Decided())
		}

		if !d.state.requests.updateDependencies(key, evaluation.Result) {
			return evaluation, nil
		}
	}
}

// decideProved returns the Result of a Request with its removals proved; nil with an error.
func (d *decider) decideProved(
	ctx context.Context, placement *api.Placement, existing placement.Existing, request *scheduling.Request,
	incumbents scheduling.Incumbents, now time.Time,
) (*scheduling.Result, error) {
	key := placement.Key()

	_, span := d.tracer.begin(ctx, "schedule", key)
	defer span.End()
	result, err := d.proved(ctx, placement, existing, now, func() (*scheduling.Result, error) {
		return d.decide(ctx, request, placement, incumbents, now)
	})
	if err == nil && ctx.Err() != nil { // The result of an evaluation that was cancelled is none.
		err = fmt.Errorf("evaluating Placement %s: %w", key, ctx.Err())
	}

	if err != nil {
		span.failed(err)
		return nil, err
	}
	span.scheduled(result)
	return result, nil
}

// proved returns a result of find that removes no cluster, or whose removal is proved: see freshness.Checker.Prove. If it cannot be proved, proved
// returns the postponed result. The error is freshness.ErrObjectChanged when the Placement has to be read again, and that of find.
func (d *decider) proved(
	ctx context.Context, placement *api.Placement, existing placement.Existing, now time.Time, find func() (*scheduling.Result, error),
) (*scheduling.Result, error) {
	for attempt := 1; ; attempt++ {
		shown := d.state.Shared.Observed.Now()
		result, err := find()
		if err != nil {
			return nil, err
		}

		removal, removes := removalOf(placement, existing, result, shown)
		if !removes {
			d.removals.backoff.Forget(placement.Key())
			return result, nil
		}
		begin := d.state.clock.Now()
		err = d.removals.checker.Prove(ctx, removal)
		metrics.ObserveProof(proofResult(err), d.state.clock.Since(begin))

		switch {
		case err == nil:
			d.removals.backoff.Forget(placement.Key())
			return result, nil
		case errors.Is(err, freshness.ErrObjectChanged):
			return nil, err
		case !errors.Is(err, freshness.ErrViewChanged):
			klog.FromContext(ctx).V(2).Info("Clusters would leave the decisions, but the view of the hub may be old; they stay",
				"reason", err.Error(), "clusters", len(removal.Clusters))
			return result.Postpone(postponement(err), now.Add(d.removals.backoff.When(placement.Key()))), nil
		case attempt == provingAttempts:
			return result.Postpone(postponement(&freshness.BehindError{}), now.Add(d.removals.backoff.When(placement.Key()))), nil
		}
	}
}

// seated calls evaluate with a seat for the CPU.
func (d *decider) seated(ctx context.Context, key inventory.Key, evaluate func(yield func())) error {
	seat, err := d.seats.Take(ctx, key.Namespace)
	if err != nil {
		return fmt.Errorf("evaluating Placement %s: %w", key, err)
	}
	defer seat.Release()
	evaluate(func() { seat.Yield(ctx) })
	return nil
}

// decide schedules a Request, with a seat for the CPU, and assumes the result. Where the result depends on the decisions of others, these
// do not change between the snapshot and the assumption, so that no two such results are computed on the same counts
// (docs/spec/differences.md B9).
func (d *decider) decide(
	ctx context.Context, request *scheduling.Request, placement *api.Placement, incumbents scheduling.Incumbents, now time.Time,
) (*scheduling.Result, error) {
	key := placement.Key()
	quarantine := &d.state.quarantine
	schedule := func(yield func()) (result *scheduling.Result, counts uint64) {
		snapshot := d.state.inventory.SnapshotFor(key).WithDone(ctx.Done()).WithYield(yield)
		if held := quarantine.Result(request, placement.UID, snapshot, incumbents, now); held != nil {
			return held, snapshot.DecisionsGeneration
		}
		defer metrics.Evaluations.Begin()()
		defer func() { quarantine.Observe(request, placement.UID, result, now) }()
		return d.engine.schedule(request, snapshot, incumbents, now, &stepTimer{clock: d.state.clock}), snapshot.DecisionsGeneration
	}

	var (
		result *scheduling.Result
		counts uint64
	)
	// At the same time as others: most answers change nothing, and what CEL says is remembered.
	if err := d.seated(ctx, key, func(yield func()) { result, counts = schedule(yield) }); err != nil {
		return nil, err
	}
	if request.ReadsDecisions() {
		d.state.deciding.Lock()
		defer d.state.deciding.Unlock()
		if d.state.inventory.DecisionsGeneration() != counts {
			result, _ = schedule(nil)
		}
	}
	d.assume(key, result, incumbents.Decided())
	return result, nil
}

// assume counts a result before it is written; of a result that does not apply it counts the existing decisions. A result that changes nothing is
// assumed only to replace an earlier one.
func (d *decider) assume(key inventory.Key, result *scheduling.Result, incumbents map[string]bool) {
	changes := result.Applies() && len(result.Selected) != len(incumbents)
	clusters := make([]string, 0, max(len(result.Selected), len(incumbents)))
	if !result.Applies() {
		clusters = slices.AppendSeq(clusters, maps.Keys(incumbents))
	}
	for _, info := range result.Selected {
		clusters = append(clusters, info.Name)
		changes = changes || !incumbents[info.Name]
	}

	if changes || d.state.inventory.Assumed(key) {
		d.state.inventory.Assume(key, clusters)
	}
}

// restore counts the decisions that exist on the pages, after an assumed result was not written completely.
func (d *decider) restore(ctx context.Context, placement *api.Placement) {
	key := placement.Key()
	if !d.state.inventory.Assumed(key) {
		return
	}
	ctx, cancel := grace(ctx)
	defer cancel()

	existing, err := d.existing(ctx, placement.API.Codec(), placement)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Reading the decisions after a failed write; what the watch has shown is counted")
		d.state.inventory.ForgetAssumed(key)
		return
	}
	var clusters []string
	for _, page := range existing.AllPages() {
		clusters = append(clusters, page.Clusters()...)
	}

	d.state.inventory.Assume(key, clusters)
}

// removalOf returns the removal that a result leads to, whose snapshot was taken after the change of the view with a number; false if it
// removes no cluster.
func removalOf(
	p *api.Placement, existing placement.Existing, result *scheduling.Result, since uint64,
) (freshness.ProofRequest, bool) {
	deciders, removes := placement.DecidersOfRemoval(result, existing)
	if !removes {
		return freshness.ProofRequest{}, false
	}
	return freshness.ProofRequest{
		Since: since, Object: placementObject(p), Meta: p.ObjectMeta, ClusterSets: result.Request.ClusterSets, KnownBindings: deciders.KnownBindings,
		Clusters: deciders.Clusters, Ranked: deciders.Ranked, AllClusters: deciders.All, Reads: result.Reads(), Scores: result.Request.ReadsScores(),
		// The view does not have the decisions of other Placements, which may have outranked a cluster.
		Unobserved: deciders.Ranked && result.Request.ReadsDecisions(),
	}, true
}

// placementObject returns the Placement as an object of the API server.
func placementObject(placement *api.Placement) freshness.Object {
	return freshness.Object{Resource: placements(placement.API), NamespacedName: keyOf(placement)}
}
