// SPDX-License-Identifier: Apache-2.0

package stopping

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// verbosity is the level at which errors that a stop causes are logged.
const verbosity = 4

// These are what controller-runtime reports, without exported errors: leaseReleased whenever a leader gives its lease up, and the other two
// when a watch or its event handler is stopped before it is in sync.
const (
	leaseReleased  = "leader election lost"
	cacheStopped   = "cache did not sync"
	handlerStopped = "handler did not sync"
)

// bodyUnread is what client-go (rest/request.go, v0.37) logs as an error when the body of a response cannot be read. With context.Canceled its
// caller has cancelled the request, such as a Watcher that ends because one of its watches is refused, and reports why by itself.
const bodyUnread = "Unexpected error when reading response body"

// Caused reports whether ctx has been cancelled and err is a consequence of that. controller-runtime reports an informer that was cancelled
// before it was in sync as a timeout of the API, and a lease that is handed over as lost.
func Caused(ctx context.Context, err error) bool {
	if err == nil || !errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	if errors.Is(err, context.Canceled) || apierrors.IsTimeout(err) {
		return true
	}

	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		switch cause.Error() {
		case leaseReleased, cacheStopped, handlerStopped:
			return true
		}
	}
	return false
}

// Logger returns a logger that writes to log, and that writes errors which the end of ctx causes, and bodies of cancelled requests that were
// not read, as information at verbosity 4. It is safe for concurrent use if log is.
func Logger(ctx context.Context, log logr.Logger) logr.Logger {
	return logr.New(&sink{LogSink: log.WithCallDepth(1).GetSink(), ctx: ctx})
}

// sink keeps the context of the process, which has no other way into a call to Error.
type sink struct {
	logr.LogSink

	ctx context.Context //nolint:containedctx // It is the end of the process, not of a call.
}

// Init does nothing: the wrapped sink was initialised with its own logger.
func (*sink) Init(logr.RuntimeInfo) {}

// Info needs a frame of its own, because Error has one.
func (s *sink) Info(level int, msg string, keysAndValues ...any) {
	s.LogSink.Info(level, msg, keysAndValues...)
}

func (s *sink) Error(err error, msg string, keysAndValues ...any) {
	switch {
	case !Caused(s.ctx, err) && (msg != bodyUnread || !errors.Is(err, context.Canceled)):
		s.LogSink.Error(err, msg, keysAndValues...)
	case s.Enabled(verbosity):
		s.LogSink.Info(verbosity, msg, append(keysAndValues, "err", err)...)
	}
}

func (s *sink) WithValues(keysAndValues ...any) logr.LogSink {
	return &sink{LogSink: s.LogSink.WithValues(keysAndValues...), ctx: s.ctx}
}

func (s *sink) WithName(name string) logr.LogSink {
	return &sink{LogSink: s.LogSink.WithName(name), ctx: s.ctx}
}

// WithCallDepth makes the sink a logr.CallDepthLogSink.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	inner, ok := s.LogSink.(logr.CallDepthLogSink)
	if !ok {
		return s
	}
	return &sink{LogSink: inner.WithCallDepth(depth), ctx: s.ctx}
}
