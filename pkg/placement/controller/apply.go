// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// applyTraced calls apply in a span, and reads the objects again that conflicted.
func (r *reconciler) applyTraced(ctx context.Context, p *cycle) error {
	ctx, span := r.tracer.begin(ctx, "write", p.placement.Key())
	err := r.apply(ctx, p)

	if len(p.refused.pages) > 0 || p.refused.status {
		r.reread(ctx, p)
	}

	span.wrote(p.Result, p.stats.writes, err)
	span.End()

	return err
}

// apply writes the decisions in the API of the Placement first, and then the mirrored formats. An error in one format does not keep the
// others from being written.
func (r *reconciler) apply(ctx context.Context, p *cycle) error {
	err := r.applyOwn(ctx, p)
	if queue.Outdated(err) || queue.Terminating(err) {
		return err
	}

	for i := range p.outputs[1:] {
		output := &p.outputs[i+1]

		err = errors.Join(err, r.applyMirror(ctx, p, output)) // The first one decides how the retry goes.
	}

	return err
}

// applyOwn writes the plan in its order: pages, the status of the Placement, surplus deletions. When a page cannot be written, the status
// reports the failure, so that it is never empty and never claims decisions that do not exist (docs/spec/differences.md A5, A7).
func (r *reconciler) applyOwn(ctx context.Context, p *cycle) error {
	start := r.clock.Now()
	own := p.own()
	p.changes.before = own.present.Pages
	news := r.reporter.forCycle(p.placement, p.Result, &p.changes)
	observe := r.observer(ctx, p, own)

	var edited map[string]bool

	if !own.plan.Empty() {
		edited = r.state.contents.edited(p.placement.Key(), own.present.Pages)
	}

	defer func() {
		news.send()
		news.sendChanges(ctx, edited)
		news.warnOfLosses(edited, r.state.served.warnPercent())
	}()

	if err := r.reserve(ctx, p); err != nil {
		return err
	}

	writer := r.budgetedWriter(p)
	written, err := writer.Write(ctx, own.plan, observe)

	switch {
	case queue.Outdated(err), queue.Terminating(err):
		return err
	case err != nil:
		r.reportFailure(ctx, p, news, err)

		return err
	}

	p.stats.at = r.clock.Now()
	status := p.Status(p.placement, metav1.Time{Time: p.stats.at}, !p.deletesForNewSpec())

	if err := r.writeStatus(ctx, p, news, status); err != nil {
		return err
	}

	err = r.delete(ctx, writer, p, own, written, observe)

	if !own.plan.Empty() {
		metrics.ObserveBind(r.clock.Since(start))
	}

	return err
}

// applyMirror writes the decisions in a mirrored format, with a timeout of its own.
func (r *reconciler) applyMirror(ctx context.Context, p *cycle, output *output) error {
	ctx, cancel := grace(ctx)
	defer cancel()

	observe := r.observer(ctx, p, output)

	writer := r.budgetedWriter(p)

	written, err := writer.Write(ctx, output.plan, observe)
	if err != nil {
		return err // What is surplus may be all that a cluster stands in.
	}

	return r.delete(ctx, writer, p, output, written, observe)
}

// delete deletes surplus pages.
func (r *reconciler) delete(
	ctx context.Context, writer placement.Writer, p *cycle, output *output, written placement.Written, observe placement.Observer,
) error {
	p.stats.begin(output.plan)

	return writer.Delete(ctx, output.plan, written, observe)
}

// budgetedWriter returns a writer that drops the rest of the plan when it would remove clusters after the Placement changed, or on an old proof.
// The Placement is then evaluated again, which proves the removals again (docs/spec/differences.md B13).
func (r *reconciler) budgetedWriter(p *cycle) placement.Writer {
	writer, plan := r.writer, freshness.Plan{Meta: &p.placement.ObjectMeta, ProvedAt: p.provedAt}
	writer.Proceed = func(ctx context.Context) error {
		current, err := r.placement(ctx, p.placement.Key())
		if err != nil {
			return err
		}

		var latest *metav1.ObjectMeta
		if current != nil {
			latest = &current.ObjectMeta
		}

		if err := plan.Proceed(latest, r.clock.Now()); err != nil {
			return fmt.Errorf("removing clusters from the decisions of placement %s: %w: %w", klog.KObj(p.placement), queue.ErrOutdated, err)
		}

		return nil
	}

	return writer
}

// reportFailure writes the failure to the status. Its own error is logged; the caller retries.
func (r *reconciler) reportFailure(ctx context.Context, p *cycle, news *cycleRecorder, failure error) {
	ctx, cancel := grace(ctx)
	defer cancel()

	now, err := r.existing(ctx, p.own().present.Codec, p.placement)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Reading the decisions after a failed write")

		now = p.own().present
	}

	p.stats.at = r.clock.Now()
	status := p.FailedStatus(now, placement.Cause(failure), metav1.Time{Time: p.stats.at})

	if err := r.writeStatus(ctx, p, news, status); err != nil && !queue.Outdated(err) {
		klog.FromContext(ctx).Error(err, "Telling of a failed write")
	}
}

// writeStatus writes the status if it differs, and sends the events that belong to it.
func (r *reconciler) writeStatus(ctx context.Context, p *cycle, news *cycleRecorder, status api.Status) error {
	if _, err := r.patchStatus(ctx, p, status); err != nil {
		return err
	}

	r.state.placements.Note(p.placement.Key(), stateOf(p.Result, status))

	if p.holdBegins() {
		news.warnOfHold(p.Removal.Summary())
	}

	return nil
}

// reserve records in the status which clusters are about to leave, before a page loses them: if the process ends meanwhile, the next leader
// counts them as removed. It writes nothing without a budget, or while nothing leaves.
func (r *reconciler) reserve(ctx context.Context, p *cycle) error {
	status, needed := p.Reserve(p.placement, metav1.Time{Time: r.clock.Now()})
	if !needed {
		return nil
	}

	patched, err := r.patchStatus(ctx, p, status)
	if patched != nil {
		p.placement = patched
	}

	return err
}

// patchStatus writes the status if it differs, and returns the written Placement; nil if nothing was written.
func (r *reconciler) patchStatus(ctx context.Context, p *cycle, status api.Status) (*api.Placement, error) {
	patched, err := r.writer.WriteStatus(ctx, p.placement, status)
	if err != nil {
		p.stats.count("status", err)
		p.refused.status = queue.Outdated(err)

		return nil, err
	}

	if patched != nil {
		p.stats.count("status", nil)
		r.state.statuses.Assume(p.placement.Key(), patched)
	}

	return patched, nil
}

// observer returns a function that assumes and counts every write of a page, and lists those in the API of the Placement as changes.
func (r *reconciler) observer(ctx context.Context, p *cycle, output *output) placement.Observer {
	if output.plan.Empty() {
		return nil // Nothing is written, and nothing prepared for it.
	}

	p.stats.begin(output.plan)

	codec := output.present.Codec
	clusters := make(map[string]int, len(output.present.Pages))

	for _, page := range output.present.Pages {
		clusters[page.Name] = len(page.Decisions)
	}

	return func(action placement.Action, page *api.Page, err error) {
		p.stats.count(string(action), err)

		if err != nil {
			p.refused.note(output.present, page, err)

			return
		}

		if log := klog.FromContext(ctx).V(2); log.Enabled() {
			log.Info("Wrote PlacementDecision", "action", action, "decision", klog.KObj(page), "clusters", len(page.Decisions))
		}

		if action == placement.ActionDelete {
			r.state.pages[codec].AssumeDeleted(p.placement.Key(), page)
		} else {
			r.state.pages[codec].Assume(p.placement.Key(), page)
		}

		if codec == p.placement.API.Codec() {
			silent := action == placement.ActionUpdateDecisions && len(page.Decisions) == 0 && clusters[page.Name] == 0
			p.changes.add(pageChange{action: action, page: page, silent: silent})
			r.state.contents.wrote(p.placement.Key(), page, action == placement.ActionDelete)
		}

		clusters[page.Name] = len(page.Decisions)
	}
}

// stateOf returns the state of a Placement for the gauges.
func stateOf(result *scheduling.Result, status api.Status) metrics.PlacementState {
	is := metrics.PlacementState{
		Misconfigured: meta.IsStatusConditionTrue(status.Conditions, placement.ConditionMisconfigured),
		Stalled:       result.Outcome() != scheduling.Decided,
		Postponed:     result.Postponement() != nil,
		Decisions:     status.Selected,
		StaleScores:   result.Expired,
	}

	if satisfied := meta.FindStatusCondition(status.Conditions, placement.ConditionSatisfied); satisfied != nil {
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
