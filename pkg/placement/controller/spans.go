// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// tracer starts the spans of reconciles.
type tracer struct {
	spans trace.Tracer
}

// newTracer returns a tracer; without a provider it does nothing.
func newTracer(provider trace.TracerProvider) tracer {
	if provider == nil {
		provider = noop.NewTracerProvider()
	}
	return tracer{spans: provider.Tracer("github.com/placement-hub/placement-hub/pkg/system")}
}

// span is a part of a reconcile. Attributes are computed only if it is recorded.
type span struct{ trace.Span }

// unrecorded is the span of a reconcile of which there is no trace.
var unrecorded = span{noop.Span{}}

// reconcile starts the span of a reconcile, which begins with the change that caused it.
func (t tracer) reconcile(ctx context.Context, key inventory.Key, change queue.Change) (context.Context, span) {
	if _, off := t.spans.(noop.Tracer); off {
		return ctx, unrecorded
	}
	taken, began := time.Now(), change.At
	if began.IsZero() {
		began = taken
	}
	about := append(of(key), attribute.String("cause", causeOf(change).String()))

	ctx, whole := t.spans.Start( //nolint:spancheck // Ended by the caller.
		ctx, "reconcile", trace.WithTimestamp(began), trace.WithAttributes(about...))
	_, event := t.spans.Start(ctx, "event", trace.WithTimestamp(began), trace.WithAttributes(about...))
	event.End(trace.WithTimestamp(taken))
	return ctx, span{whole} //nolint:spancheck // As above.
}

// begin starts the span of a part of a reconcile.
func (t tracer) begin(ctx context.Context, name string, key inventory.Key) (context.Context, span) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, unrecorded
	}
	ctx, part := t.spans.Start(ctx, name, trace.WithAttributes(of(key)...)) //nolint:spancheck // Ended by the caller.
	return ctx, span{part}                                                  //nolint:spancheck // As above.
}

func of(key inventory.Key) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("placement.namespace", key.Namespace), attribute.String("placement.name", key.Name),
		attribute.String("placement.api", string(key.API())),
	}
}

// scheduled adds the result of the scheduler.
func (s span) scheduled(result *scheduling.Result) {
	if !s.IsRecording() {
		return
	}
	s.SetAttributes(
		attribute.Int("clusters.available", result.Available), attribute.Int("clusters.feasible", result.Feasible()),
		attribute.Int("clusters.selected", len(result.Selected)), attribute.Bool("stalled", result.Outcome() != scheduling.Decided),
		attribute.Int64("generation", int64(result.Generation)),
	)
}

// planned adds the plan.
func (s span) planned(evaluation *placement.Evaluation) {
	if !s.IsRecording() {
		return
	}
	s.scheduled(evaluation.Result)
	s.SetAttributes(attribute.Int("writes", len(evaluation.Plan.Writes)+len(evaluation.Plan.Deletes)))
}

// wrote adds the number of successful requests, and their error.
func (s span) wrote(result *scheduling.Result, requests int, err error) {
	if !s.IsRecording() {
		return
	}
	s.scheduled(result)
	s.SetAttributes(attribute.Int("writes", requests), attribute.Bool("outdated", queue.Outdated(err)))
	if err != nil && !queue.Outdated(err) {
		s.failed(err)
	}
}

// failed adds an error.
func (s span) failed(err error) {
	s.RecordError(err)
	s.SetStatus(codes.Error, err.Error())
}

// due is the cause of a reconcile without a change: a toleration or a score has expired.
var due = metrics.CauseOf("time")

func causeOf(change queue.Change) *metrics.Cause {
	if change.Cause == nil {
		return due
	}
	return change.Cause
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
