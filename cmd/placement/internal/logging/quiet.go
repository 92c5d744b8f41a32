// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"runtime"
	"slices"
	"strings"

	"github.com/go-logr/logr"
)

// verbosity is the level at which information of controller-runtime is logged: it has a line for each watch and each controller.
const verbosity = 2

const (
	library = "sigs.k8s.io/controller-runtime/"
	// maxFrames is how many callers are examined: those of logr, of the delegation in controller-runtime, and one more.
	maxFrames = 8
)

// loggers are the prefixes of functions between a logger and its caller.
var loggers = []string{
	"github.com/go-logr/logr.", library + "pkg/log.", "github.com/placement-hub/placement-hub/cmd/placement/internal/stopping.",
}

// Quiet returns a logger that writes to log, and that writes information which controller-runtime logs at level 0 at verbosity 2. It is safe
// for concurrent use if log is.
func Quiet(log logr.Logger) logr.Logger {
	return logr.New(&sink{LogSink: log.WithCallDepth(1).GetSink()})
}

type sink struct{ logr.LogSink }

// Init does nothing: the wrapped sink was initialised with its own logger.
func (*sink) Init(logr.RuntimeInfo) {}

// Info writes information.
func (s *sink) Info(level int, msg string, keysAndValues ...any) {
	if level == 0 && calledByLibrary() {
		if level = verbosity; !s.Enabled(level) {
			return
		}
	}
	s.LogSink.Info(level, msg, keysAndValues...)
}

// Error needs a frame of its own, because Info has one.
func (s *sink) Error(err error, msg string, keysAndValues ...any) {
	s.LogSink.Error(err, msg, keysAndValues...)
}

// WithValues returns a sink with values.
func (s *sink) WithValues(keysAndValues ...any) logr.LogSink {
	return &sink{LogSink: s.LogSink.WithValues(keysAndValues...)}
}

// WithName returns a sink with a name.
func (s *sink) WithName(name string) logr.LogSink { return &sink{LogSink: s.LogSink.WithName(name)} }

// WithCallDepth makes the sink a logr.CallDepthLogSink.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	inner, ok := s.LogSink.(logr.CallDepthLogSink)
	if !ok {
		return s
	}
	return &sink{LogSink: inner.WithCallDepth(depth)}
}

// calledByLibrary reports whether the caller of the logger is controller-runtime.
func calledByLibrary() bool {
	var pcs [maxFrames]uintptr

	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]) // Callers, this function and Info are left out.
	for {
		frame, more := frames.Next()
		if !isLogger(frame.Function) {
			return strings.HasPrefix(frame.Function, library)
		}
		if !more {
			return false
		}
	}
}

func isLogger(function string) bool {
	return slices.ContainsFunc(loggers, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}
