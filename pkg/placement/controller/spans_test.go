// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// evaluationSpans begins and ends all spans of an evaluation.
func evaluationSpans(tb testing.TB, provider trace.TracerProvider) func() {
	tb.Helper()
	spans, key, p := newTracer(provider), placementKey("p"), &cycle{}
	change := queue.Change{Cause: metrics.CauseOf("cluster"), At: time.Now()}
	ctx, failure := tb.Context(), errors.New("no answer")
	return func() {
		ctx, whole := spans.reconcile(ctx, key, change)
		_, schedule := spans.begin(ctx, "schedule", key)
		schedule.scheduled(p.Result)
		schedule.End()
		_, plan := spans.begin(ctx, "plan", key)
		plan.planned(&p.Evaluation)
		plan.End()

		_, write := spans.begin(ctx, "write", key)
		write.wrote(p.Result, p.stats.writes, failure)
		write.End()
		whole.failed(failure)
		whole.End()
	}
}

// Traces cost nothing when nobody asks for them.
func TestTracesThatAreOffCostNothing(t *testing.T) {
	if allocations := testing.AllocsPerRun(100, evaluationSpans(t, nil)); allocations != 0 {
		t.Errorf("%v allocations without a provider", allocations)
	}
}

// BenchmarkSpans is what the spans of an evaluation cost when there are none, and when nothing is taken of them.
func BenchmarkSpans(b *testing.B) {
	for name, provider := range map[string]trace.TracerProvider{"off": nil, "not taken": noop.NewTracerProvider()} {
		b.Run(name, func(b *testing.B) {
			evaluate := evaluationSpans(b, provider)
			b.ReportAllocs()
			for b.Loop() {
				evaluate()
			}
		})
	}
}
