// SPDX-License-Identifier: Apache-2.0

package eventwriter

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/events"
)

// counter is a sink that only counts events.
type counter chan struct{}

func (c counter) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	c <- struct{}{}
	return event, nil
}

func (c counter) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return c.Create(ctx, event)
}

func (c counter) Patch(ctx context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	return c.Create(ctx, event)
}

// BenchmarkEvents measures an event with this package and with the broadcaster of client-go, without its request.
func BenchmarkEvents(b *testing.B) {
	run := func(b *testing.B, recorder events.EventRecorder, deliver func()) {
		b.Helper()
		b.ReportAllocs()
		regarding := *placement
		for n := 0; b.Loop(); n++ {
			regarding.Name = fmt.Sprintf("p%d", n)
			recorder.Eventf(&regarding, page, corev1.EventTypeNormal, "DecisionUpdate", "DecisionUpdated", "Decision %s is %s", "p", "updated")
			deliver()
		}
	}

	b.Run("eventwriter", func(b *testing.B) {
		sink := make(counter, 1)
		w := New(sink, "tester", func() bool { return false })
		run(b, w, func() {
			if next, found := w.pop(); found {
				w.write(b.Context(), next)
				<-sink
			}
		})
	})
	b.Run("client-go", func(b *testing.B) {
		sink := make(counter, 1)
		broadcaster := events.NewBroadcaster(sink)
		if err := broadcaster.StartRecordingToSinkWithContext(b.Context()); err != nil {
			b.Fatal(err)
		}
		run(b, broadcaster.NewRecorder(nil, "tester"), func() { <-sink })
		broadcaster.Shutdown()
	})
}
