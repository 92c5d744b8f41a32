package placement

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// tracer starts the spans of reconciles. Without a provider it does nothing.
type tracer struct {
	spans trace.Tracer // nil without traces
}

func newTracer(provider trace.TracerProvider) tracer {
	if provider == nil {
		return tracer{}
	}

	return tracer{spans: provider.Tracer("github.com/placement-hub/placement-hub/pkg/controller")}
}

// span is a part of a reconcile.
type span struct {
	trace.Span // nil without a trace of this evaluation
}

// reconcile starts the span of a reconcile, which begins with the change that caused it.
func (t tracer) reconcile(ctx context.Context, key inventory.Key, change queue.Change) (context.Context, span) {
	if t.spans == nil {
		return ctx, span{}
	}

	taken, began := time.Now(), change.At
	if began.IsZero() {
		began = taken
	}

	about := append(of(key), attribute.String("cause", causeOf(change).String()))

	ctx, whole := t.spans.Start(ctx, "reconcile", trace.WithTimestamp(began), trace.WithAttributes(about...))
	if !whole.IsRecording() {
		return ctx, span{}
	}

	_, event := t.spans.Start(ctx, "event", trace.WithTimestamp(began), trace.WithAttributes(about...))
	event.End(trace.WithTimestamp(taken))

	return ctx, span{whole}
}

// begin starts the span of a part of a reconcile.
func (t tracer) begin(ctx context.Context, name string, key inventory.Key) (context.Context, span) {
	if t.spans == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, span{}
	}

	ctx, part := t.spans.Start(ctx, name, trace.WithAttributes(of(key)...)) //nolint:spancheck // Ended by the caller.

	return ctx, span{part} //nolint:spancheck // As above.
}

func of(key inventory.Key) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("placement.namespace", key.Namespace), attribute.String("placement.name", key.Name),
		attribute.String("placement.api", string(key.API())),
	}
}

func (s span) end() {
	if s.Span != nil {
		s.End()
	}
}

// answered adds the result of the scheduler.
func (s span) answered(result *scheduling.Result) {
	if s.Span == nil {
		return
	}

	s.SetAttributes(
		attribute.Int("clusters.available", result.Available), attribute.Int("clusters.feasible", result.Feasible()),
		attribute.Int("clusters.selected", len(result.Selected)), attribute.Bool("stalled", result.Outcome() != scheduling.Decided),
		attribute.Int64("generation", int64(result.Generation)),
	)
}

// planned adds the plan.
func (s span) planned(evaluation *decision.Evaluation) {
	if s.Span == nil {
		return
	}

	s.answered(evaluation.Result)
	s.SetAttributes(attribute.Int("writes", len(evaluation.Plan.Writes)+len(evaluation.Plan.Deletes)))
}

// wrote adds the requests and their error.
func (s span) wrote(p *cycle, err error) {
	if s.Span == nil {
		return
	}

	s.answered(p.Result)
	s.SetAttributes(attribute.Int("writes", p.stats.writes), attribute.Bool("outdated", decision.Outdated(err)))

	if err != nil && !decision.Outdated(err) {
		s.failed(err)
	}
}

// failed adds an error.
func (s span) failed(err error) {
	if s.Span != nil {
		s.RecordError(err)
		s.SetStatus(codes.Error, err.Error())
	}
}
