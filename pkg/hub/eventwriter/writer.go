// SPDX-License-Identifier: Apache-2.0

package eventwriter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// pauseFactor is the length of the pause after a request, in multiples of its duration, while Placements wait. Otherwise there is no
	// pause, because consecutive requests are cheaper than single ones.
	pauseFactor = 20
	// maxPause bounds the pause after a request.
	maxPause = time.Second
	// shutdownTimeout is how long events are still written after the context of Start has ended.
	shutdownTimeout = 500 * time.Millisecond
	// retryDelay is the time between tries of a request without a response, and maxTries their greatest number. Both are those of
	// client-go.
	retryDelay = 10 * time.Second
	maxTries   = 12
	// seriesPeriod is how often the counts of series are written, and how long a series lasts after its last event.
	seriesPeriod = 6 * time.Minute
)

// Writer is an EventRecorder that writes events after Start was called. It is safe for concurrent use.
type Writer struct {
	*buffer

	sink   events.EventSink
	source source
	busy   func() bool
}

var (
	_ events.EventRecorder           = (*Writer)(nil)
	_ manager.LeaderElectionRunnable = (*Writer)(nil)
)

// New returns a Writer that writes the events of a controller to a sink. It slows down while busy returns true; busy must be safe for
// concurrent use.
func New(sink events.EventSink, controller string, busy func() bool) *Writer {
	return &Writer{buffer: newBuffer(), sink: sink, source: newSource(controller), busy: busy}
}

// Add adds a Writer of a controller's events to the manager: New says how it is called.
func Add(mgr manager.Manager, controller string, busy func() bool) (*Writer, error) {
	sink, err := NewSink(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to write events: %w", err)
	}
	writer := New(sink, controller, busy)
	if err := mgr.Add(writer); err != nil {
		return nil, fmt.Errorf("adding the writer of events: %w", err)
	}
	return writer, nil
}

// NeedLeaderElection returns true: only the leader sends events.
func (*Writer) NeedLeaderElection() bool { return true }

// Start writes events until ctx ends, and for shutdownTimeout longer. It always returns nil.
func (w *Writer) Start(ctx context.Context) error {
	writing, stop := withShutdownTimeout(ctx, shutdownTimeout)
	defer stop()
	ticker := time.NewTicker(seriesPeriod)
	defer ticker.Stop()

	for {
		select {
		case <-ticker.C:
			w.flushSeries(time.Now())
		default:
		}
		next, found := w.pop()
		switch {
		case found:
			began := time.Now()
			w.write(writing, next)
			if writing.Err() != nil {
				w.discard()
				return nil
			}
			w.throttle(ctx, time.Since(began))
		case ctx.Err() != nil:
			return nil
		default:
			select {
			case <-w.ready:
			case <-ticker.C:
				w.flushSeries(time.Now())
			case <-ctx.Done():
			}
		}
	}
}

// withShutdownTimeout returns a context that ends some time after ctx.
func withShutdownTimeout(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-ctx.Done():
			timer := time.NewTimer(by)
			defer timer.Stop()
			select {
			case <-timer.C:
				cancel()
			case <-longer.Done():
			}
		case <-longer.Done():
		}
	}()

	return longer, cancel
}

// throttle pauses after a request while Placements wait, unless ctx ends.
func (w *Writer) throttle(ctx context.Context, took time.Duration) {
	if w.busy() {
		pause(ctx, min(pauseFactor*took, maxPause))
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// write writes an event. It retries errors that are not responses of the API server, such as a lost connection.
func (w *Writer) write(ctx context.Context, next pendingEvent) {
	for try := 1; ; try++ {
		err := w.send(ctx, next)
		if err == nil {
			metrics.Events.WithLabelValues("written").Inc()
			w.markWritten(next)
			return
		}

		// A terminating namespace takes its events with it.
		expected := ctx.Err() != nil || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
		if refused := apierrors.APIStatus(nil); expected || try == maxTries || errors.As(err, &refused) {
			if !expected {
				klog.FromContext(ctx).Error(err, "An event is lost", "reason", next.reason, "tries", try)
			}
			metrics.Events.WithLabelValues("failed").Inc()
			return
		}
		klog.FromContext(ctx).V(2).Info("Writing an event will be tried again", "reason", next.reason, "err", err)
		pause(ctx, retryDelay)
	}
}

// send sends one request, or two if the event of a series does not exist any more.
func (w *Writer) send(ctx context.Context, next pendingEvent) error {
	event := w.source.event(next)
	if next.created {
		patch, err := seriesPatch(event)
		if err != nil {
			return err
		}
		_, err = w.sink.Patch(ctx, event, patch)
		if !apierrors.IsNotFound(err) {
			return wrapError("patching", next, err)
		}
	}

	_, err := w.sink.Create(ctx, event)
	if apierrors.IsAlreadyExists(err) {
		err = nil // The response to an earlier try was lost.
	}
	return wrapError("creating", next, err)
}

func wrapError(verb string, p pendingEvent, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s an Event about %s %s/%s: %w", verb, p.regarding.Kind, p.regarding.Namespace, p.regarding.Name, err)
}

// NewSink returns a sink that writes events to the API server of config.
func NewSink(config *rest.Config, client *http.Client) (events.EventSink, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf // Cheaper than JSON for many events.
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	api, err := eventsv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making a client of events.k8s.io: %w", err)
	}
	return &events.EventSinkImpl{Interface: api}, nil
}
