// SPDX-License-Identifier: Apache-2.0

package stopping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestLogger(t *testing.T) {
	cancelled := &url.Error{Op: "Post", URL: "https://hub", Err: context.Canceled}
	for _, tc := range []struct {
		reason    string
		err       error
		stopped   bool
		verbosity int
		want      []string
	}{
		{
			"at work a cancelled request is an error", cancelled, false, 0,
			[]string{`n "msg"="m" "error"="Post \"https://hub\": context canceled" "k"="v"`},
		},
		{"at a stop it is not", cancelled, true, 0, nil},
		{
			"at a stop it is there for who asks", cancelled, true, verbosity,
			[]string{`n "level"=4 "msg"="m" "k"="v" "err"="Post \"https://hub\": context canceled"`},
		},
		{
			"an informer that was stopped before it was in sync", fmt.Errorf("wrapped: %w", apierrors.NewTimeoutError("failed waiting", 0)),
			true, 0, nil,
		},
		{
			"a watch that was stopped before it was in sync", fmt.Errorf("failed to wait for caches to sync: %w", errors.New(cacheStopped)),
			true, 0, nil,
		},
		{
			"an event handler that was stopped before it was in sync",
			fmt.Errorf("failed to wait for caches to sync: %w", errors.New(handlerStopped)), true, 0, nil,
		},
		{
			"an event handler that does not get in sync", errors.New(handlerStopped), false, 0,
			[]string{`n "msg"="m" "error"="handler did not sync" "k"="v"`},
		},
		{"a lease that is lost at work", errors.New(leaseReleased), false, 0, []string{`n "msg"="m" "error"="leader election lost" "k"="v"`}},
		{"a lease that is handed over", errors.New(leaseReleased), true, 0, nil},
		{"at a stop the hub can fail, too", errors.New("disk full"), true, 0, []string{`n "msg"="m" "error"="disk full" "k"="v"`}},
		{"an error that nobody made", nil, true, 0, []string{`n "msg"="m" "error"=null "k"="v"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var got []string
			out := funcr.New(func(name, line string) { got = append(got, name+" "+line) }, funcr.Options{Verbosity: tc.verbosity})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			log := Logger(ctx, out).WithName("n").WithValues("k", "v")
			if tc.stopped {
				stop()
			}
			log.Error(tc.err, "m")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
		})
	}
}

// A request that was cancelled while its response was read is no error, and one of which the response is broken is.
func TestLoggerOfBodies(t *testing.T) {
	var got []string
	log := Logger(t.Context(), funcr.New(func(_, line string) { got = append(got, line) }, funcr.Options{}))
	log.Error(fmt.Errorf("reading: %w", context.Canceled), bodyUnread)
	log.Error(io.ErrUnexpectedEOF, bodyUnread)
	if diff := cmp.Diff([]string{`"msg"="Unexpected error when reading response body" "error"="unexpected EOF"`}, got); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

// A line names the file that logs it, not this package.
func TestLoggerKeepsTheCaller(t *testing.T) {
	var lines []string
	out := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{LogCaller: funcr.All})
	log := Logger(t.Context(), out)
	log.Info("m")
	log.Error(errors.New("e"), "m")
	log.WithName("n").WithValues("k", "v").Info("m")
	func() { log.WithCallDepth(1).Error(errors.New("e"), "m") }()
	for _, line := range lines {
		if !strings.Contains(line, `"file"="stopping_test.go"`) {
			t.Errorf("the caller of %s is not this test", line)
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines, want 4", len(lines))
	}
}
