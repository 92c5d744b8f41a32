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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// applier carries out what a cycle has decided: it writes pages and statuses, and reports them.
type applier struct {
	*reader

	// live reads from the API server itself, and not from the cache.
	live     client.Reader
	writer   placement.Writer
	reporter recorders
	tracer   tracer
	history  *recorder.Recorder
}

// applyTraced calls apply in a span, and reads the objects again that conflicted.
func (a *applier) applyTraced(ctx context.Context, c *cycle) error {
	ctx, span := a.tracer.begin(ctx, "write", c.placement.Key())
	err := a.apply(ctx, c)
	if len(c.refused.pages) > 0 || c.refused.status {
		a.reread(ctx, c)
	}
	span.wrote(c.Result, c.stats.writes, err)
	span.End()
	return err
}

// apply writes the decisions in the API of the Placement first, and then the mirrored formats. An error in one format does not keep the
// others from being written.
func (a *applier) apply(ctx context.Context, c *cycle) error {
	err := a.applyOwn(ctx, c)
	if queue.Outdated(err) || queue.Terminating(err) {
		return err
	}
	for i := range c.outputs[1:] {
		output := &c.outputs[i+1]
		err = errors.Join(err, a.applyMirror(ctx, c, output)) // The first one decides how the retry goes.
	}
	return err
}

// applyOwn writes the plan in its order: pages, the status of the Placement, surplus deletions. When a page cannot be written, the status
// reports the failure, so that it is never empty and never claims decisions that do not exist (docs/spec/differences.md A5, A7).
func (a *applier) applyOwn(ctx context.Context, c *cycle) error {
	start := a.state.clock.Now()
	own := c.own()
	c.changes.before = own.present.Pages
	reports := a.reporter.forCycle(c.placement, c.Result, &c.changes)
	observe := a.observer(ctx, c, own)
	if !own.plan.Empty() {
		c.changes.edited = a.state.contents.edited(c.placement.Key(), own.present.Pages)
		a.history.Begin(c.placement.Key())
	}

	defer func() {
		reports.send()
		if reasons := reports.sendChanges(ctx); !own.plan.Empty() {
			a.history.End(c.placement.Key(), reasons)
		}
		reports.warnOfLosses(a.state.served.warnPercent())
	}()
	if err := a.reserve(ctx, c); err != nil {
		return err
	}
	writer := a.budgetedWriter(c)
	written, err := writer.Write(ctx, own.plan, observe)
	switch {
	case queue.Outdated(err), queue.Terminating(err):
		return err
	case err != nil:
		a.reportFailure(ctx, c, reports, err)
		return err
	}

	c.stats.at = a.state.clock.Now()
	status := c.Status(c.placement, metav1.Time{Time: c.stats.at}, !c.deletesForNewSpec())
	if err := a.writeStatus(ctx, c, reports, status); err != nil {
		return err
	}
	err = a.delete(ctx, writer, c, own, written, observe)
	if !own.plan.Empty() {
		metrics.ObserveBind(a.state.clock.Since(start))
	}
	return err
}

// applyMirror writes the decisions in a mirrored format, with a shorter timeout of each request.
func (a *applier) applyMirror(ctx context.Context, c *cycle, output *output) error {
	observe := a.observer(ctx, c, output)
	writer := a.budgetedWriter(c)
	writer.Timeout = min(writer.Timeout, graceTimeout)
	written, err := writer.Write(ctx, output.plan, observe)
	if err != nil {
		return err // What is surplus may be all that a cluster stands in.
	}
	return a.delete(ctx, writer, c, output, written, observe)
}

// delete deletes surplus pages.
func (a *applier) delete(
	ctx context.Context, writer placement.Writer, c *cycle, output *output, written placement.Written, observe placement.Observer,
) error {
	c.stats.begin(output.plan)
	return writer.Delete(ctx, output.plan, written, observe)
}

// budgetedWriter returns a writer that drops the rest of the plan once the Placement has changed or the plan has taken longer than a timeout, and
// when it would remove clusters on an old proof. The Placement is then evaluated again, which proves the removals again (docs/spec/differences.md
// B13).
func (a *applier) budgetedWriter(c *cycle) placement.Writer {
	writer, plan := a.writer, freshness.Plan{Meta: &c.placement.ObjectMeta, ProvedAt: c.provedAt}
	begin, limit := a.state.clock.Now(), a.writer.Timeout
	writer.Proceed = func(ctx context.Context, loses bool) error {
		if limit > 0 && a.state.clock.Since(begin) > limit {
			return fmt.Errorf("writing the decisions of placement %s for longer than %s: %w", klog.KObj(c.placement), limit, queue.ErrOutdated)
		}
		current, err := a.placement(ctx, c.placement.Key())
		if err != nil {
			return err
		}
		var latest *metav1.ObjectMeta
		if current != nil {
			latest = &current.ObjectMeta
		}

		at := c.provedAt // The rest of a plan that removes nothing needs no proof.
		if loses {
			at = a.state.clock.Now()
		}
		if err := plan.Proceed(latest, at); err != nil {
			return fmt.Errorf("writing the decisions of placement %s: %w: %w", klog.KObj(c.placement), err, queue.ErrOutdated)
		}
		return nil
	}
	return writer
}

// reportFailure writes the failure to the status. Its own error is logged; the caller retries.
func (a *applier) reportFailure(ctx context.Context, c *cycle, recorder *cycleRecorder, failure error) {
	ctx, cancel := grace(ctx)
	defer cancel()
	now, err := a.existing(ctx, c.own().present.Codec, c.placement)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Reading the decisions after a failed write")
		now = c.own().present
	}
	c.stats.at = a.state.clock.Now()
	status := c.FailedStatus(now, placement.Cause(failure), metav1.Time{Time: c.stats.at})

	if err := a.writeStatus(ctx, c, recorder, status); err != nil && !queue.Outdated(err) {
		klog.FromContext(ctx).Error(err, "Telling of a failed write")
	}
}

// writeStatus writes the status if it differs, and sends the events that belong to it.
func (a *applier) writeStatus(ctx context.Context, c *cycle, recorder *cycleRecorder, status api.Status) error {
	if _, err := a.patchStatus(ctx, c, status); err != nil {
		return err
	}
	a.state.placements.Note(c.placement.Key(), stateOf(c.Result, status))
	if c.holdBegins() {
		recorder.warnOfHold(c.BudgetResult.Summary())
	}
	return nil
}

// reserve records in the status which clusters are about to leave, before a page loses them: if the process ends meanwhile, the next leader
// counts them as removed. It writes nothing without a budget, or while nothing leaves.
func (a *applier) reserve(ctx context.Context, c *cycle) error {
	status, needed := c.Reserve(c.placement, metav1.Time{Time: a.state.clock.Now()})
	if !needed {
		return nil
	}
	patched, err := a.patchStatus(ctx, c, status)
	if patched != nil {
		c.placement = patched
	}
	return err
}

// patchStatus writes the status if it differs, and returns the written Placement; nil if nothing was written.
func (a *applier) patchStatus(ctx context.Context, c *cycle, status api.Status) (*api.Placement, error) {
	patched, err := a.writer.WriteStatus(ctx, c.placement, status)
	if err != nil {
		c.stats.count("status", err)
		c.refused.status = queue.Outdated(err)
		return nil, err
	}
	if patched != nil {
		c.stats.count("status", nil)
		a.state.statuses.Assume(c.placement.Key(), patched)
	}
	return patched, nil
}

// observer returns a function that assumes and counts every write of a page, and lists those in the API of the Placement as changes.
func (a *applier) observer(ctx context.Context, c *cycle, output *output) placement.Observer {
	if output.plan.Empty() {
		return nil // Nothing is written, and nothing prepared for it.
	}
	c.stats.begin(output.plan)
	codec := output.present.Codec
	clusters := make(map[string]int, len(output.present.Pages))
	for _, page := range output.present.Pages {
		clusters[page.Name] = len(page.Decisions)
	}
	return func(action placement.Action, page *api.Page, err error) {
		c.stats.count(string(action), err)
		if err != nil {
			c.refused.note(output.present, page, err)
			return
		}
		if log := klog.FromContext(ctx).V(2); log.Enabled() {
			log.Info("Wrote PlacementDecision", "action", action, "decision", klog.KObj(page), "clusters", len(page.Decisions))
		}

		if action == placement.ActionDelete {
			a.state.pages[codec].AssumeDeleted(c.placement.Key(), page)
		} else {
			a.state.pages[codec].Assume(c.placement.Key(), page)
		}
		if codec == c.placement.API.Codec() {
			silent := action == placement.ActionUpdateDecisions && len(page.Decisions) == 0 && clusters[page.Name] == 0
			c.changes.add(pageChange{action: action, page: page, silent: silent})
			a.state.contents.wrote(c.placement.Key(), page, action == placement.ActionDelete)
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
