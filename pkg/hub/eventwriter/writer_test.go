// SPDX-License-Identifier: Apache-2.0

package eventwriter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// server is an API server whose requests take some time and fail on demand.
type server struct {
	takes time.Duration
	fail  func(request string) error

	start    time.Time
	underWay int
	events   []*eventsv1.Event
	// requests has the requests, and the time of each response since the start.
	requests []string
}

func (s *server) respond(ctx context.Context, verb string, event *eventsv1.Event, note string) (*eventsv1.Event, error) {
	s.underWay++
	if s.underWay > 1 {
		return nil, errors.New("two requests at once")
	}
	defer func() { s.underWay-- }()
	pause(ctx, s.takes)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("writing: %w", ctx.Err())
	}

	request := verb + " " + note
	s.requests = append(s.requests, fmt.Sprintf("%v %s", time.Since(s.start), request))
	if s.fail != nil {
		if err := s.fail(request); err != nil {
			return nil, err
		}
	}
	s.events = append(s.events, event)
	return event, nil
}

func (s *server) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return s.respond(ctx, "create", event, event.Note)
}

func (s *server) Update(context.Context, *eventsv1.Event) (*eventsv1.Event, error) {
	return nil, errors.New("nobody updates events")
}

func (s *server) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	count, _, _ := strings.Cut(string(data), `,"last`)
	return s.respond(ctx, "patch", event, count)
}

var (
	placement = &corev1.ObjectReference{APIVersion: "v1", Kind: "Placement", Namespace: "ns", Name: "p", UID: "1", ResourceVersion: "7"}
	page      = &corev1.ObjectReference{APIVersion: "v1", Kind: "PlacementDecision", Namespace: "ns", Name: "p-decision-1", UID: "2"}
)

func send(w *Writer, reason string) {
	w.Eventf(placement, page, corev1.EventTypeNormal, reason, reason+"d", "%s of %s", reason, "p")
}

// withServer runs a test on a fake clock; no goroutine may be left when the context has ended.
func withServer(t *testing.T, busy bool, test func(context.Context, *server, *Writer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{start: time.Now()}
		w := New(s, "tester", func() bool { return busy })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		test(ctx, s, w)
		go func() { ended <- w.Start(ctx) }()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// written runs the writer for a time, and returns the requests of the server.
func written(ctx context.Context, t *testing.T, s *server, w *Writer, d time.Duration, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := w.Start(ctx); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, s.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	s.requests = nil
}

func TestEventsLookLikeThoseOfClientGo(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		send(w, "Create")
		w.Eventf(placement, nil, corev1.EventTypeWarning, "Alone", "Alone", "nothing related")
		written(ctx, t, s, w, time.Minute, "0s create Create of p", "0s create nothing related")
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}

		want := &eventsv1.Event{
			ReportingController: "tester", ReportingInstance: "tester-" + host, Action: "Created", Reason: "Create", Type: "Normal",
			Note: "Create of p", Regarding: *placement, Related: page,
		}
		want.Regarding.ResourceVersion = ""
		want.Namespace, want.Name, want.EventTime.Time = "ns", fmt.Sprintf("p.%x", s.start.UnixNano()), s.start
		if diff := cmp.Diff(want, s.events[0]); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}

		if other := s.events[1]; other.Related != nil || other.Name == want.Name {
			t.Errorf("the other event is %s about %v, want another name and nothing related", other.Name, other.Related)
		}
	})
}

// One request is sent at a time, and while Placements wait, the pauses grow with the duration of requests.
func TestEventsStandBehindDecisions(t *testing.T) {
	for _, tc := range []struct {
		reason string
		busy   bool
		takes  time.Duration
		want   []string
	}{
		{"one after the other when nothing else is to do", false, 10 * time.Millisecond, []string{"10ms", "20ms", "30ms"}},
		{"a twentieth of the time otherwise", true, 10 * time.Millisecond, []string{"10ms", "220ms", "430ms"}},
		{"but never less than one a second", true, 500 * time.Millisecond, []string{"500ms", "2s", "3.5s"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			withServer(t, tc.busy, func(ctx context.Context, s *server, w *Writer) {
				s.takes = tc.takes
				var want []string
				for n, at := range tc.want {
					send(w, strconv.Itoa(n))
					want = append(want, fmt.Sprintf("%s create %d of p", at, n))
				}
				written(ctx, t, s, w, time.Minute, want...)
			})
		})
	}
}

// Repeated events about the same objects are a series, as with the broadcaster of client-go: one patch when it begins, and one when it
// ends.
func TestTheSameEventAgainIsASeries(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, "0s create Create of p")
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, `1m0s patch {"series":{"count":2`)
		send(w, "Create")
		send(w, "Create")
		written(ctx, t, s, w, 14*time.Minute, `8m0s patch {"series":{"count":4`)
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, "16m0s create Create of p")
	})
}

// The resourceVersions of the objects do not matter to a reader, but the text does.
func TestASeriesIsOfTheSameWords(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		later := *placement
		later.ResourceVersion = "8"
		for _, regarding := range []*corev1.ObjectReference{placement, &later} {
			for _, scores := range []string{"c1:100", "c1:0"} {
				w.Eventf(regarding, page, corev1.EventTypeNormal, "ScoreUpdate", "ScoreUpdated", "%s", scores)
			}
		}
		written(ctx, t, s, w, time.Minute, "0s create c1:100", "0s create c1:0")

		for _, event := range s.events {
			if event.Series == nil || event.Series.Count != 2 {
				t.Errorf("%q has series %v, want 2", event.Note, event.Series)
			}
		}
	})
}

func TestASeriesThatWaitsIsOneRequest(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		send(w, "Create")
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, "0s create Create of p")
		if series := s.events[0].Series; series == nil || series.Count != 2 {
			t.Errorf("the series is %v, want 2", series)
		}
	})
}

// An event expires after an hour; a series that continues after that is created again.
func TestASeriesWhoseEventIsGoneIsCreatedAgain(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		s.fail = func(request string) error {
			if strings.HasPrefix(request, "patch") {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, "p")
			}
			return nil
		}
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, "0s create Create of p")
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, `1m0s patch {"series":{"count":2`, "1m0s create Create of p")
	})
}

func TestRefusedEventsAreDroppedAndOthersRetried(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		s.fail = func(request string) error {
			switch {
			case strings.HasPrefix(request, "create Refused"):
				return apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "p", errors.New("no"))
			case len(s.requests) < 4:
				return errors.New("connection refused")
			default:
				return nil
			}
		}

		send(w, "Refused")
		send(w, "Create")
		written(ctx, t, s, w, time.Minute, "0s create Refused of p", "0s create Create of p", "10s create Create of p", "20s create Create of p")
	})
}

func TestRequestsWithoutResponseTimeOut(t *testing.T) {
	withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
		s.fail = func(string) error { return errors.New("connection refused") }
		send(w, "Create")
		if err := w.Start(deadline(ctx, t, time.Hour)); err != nil || len(s.requests) != maxTries {
			t.Errorf("%d requests and %v, want %d", len(s.requests), err, maxTries)
		}
	})
}

func deadline(ctx context.Context, t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, d)
	t.Cleanup(cancel)
	return ctx
}

// At the end, pending events are written without pauses, for half a second at most.
func TestTheEndIsShort(t *testing.T) {
	withServer(t, true, func(ctx context.Context, s *server, w *Writer) {
		s.takes = 200 * time.Millisecond
		for n := range 10 {
			send(w, strconv.Itoa(n))
		}
		written(ctx, t, s, w, time.Nanosecond, "200ms create 0 of p", "400ms create 1 of p")
		if took := time.Since(s.start); took > 510*time.Millisecond {
			t.Errorf("it took %v to end", took)
		}

		if _, more := w.pop(); more {
			t.Error("something still waits")
		}
	})
}

// text counts the calls of its String method.
type text struct{ asked *int }

func (t text) String() string {
	*t.asked++
	return "text"
}

func TestWhatNobodyWillReadIsNotPutIntoWords(t *testing.T) {
	w := New(&server{}, "tester", func() bool { return false })
	asked := 0
	sendText := func(name string) {
		regarding := *placement
		regarding.Name = name
		w.Eventf(&regarding, page, corev1.EventTypeNormal, "ScoreUpdate", "ScoreUpdated", "%s", text{&asked})
	}
	for n := range maxPending {
		sendText(strconv.Itoa(n))
	}

	if asked != maxPending {
		t.Errorf("%d of %d texts were made", asked, maxPending)
	}
	sendText("too many")
	if asked != maxPending {
		t.Errorf("%d texts were made for nothing", asked-maxPending)
	}
	if len(w.pending) != maxPending || len(w.series) != maxSeries || len(w.order) != maxSeries {
		t.Errorf("%d wait and %d/%d are remembered", len(w.pending), len(w.series), len(w.order))
	}
}

func TestWhatCannotBeReferredToIsNotSent(t *testing.T) {
	w := New(&server{}, "tester", func() bool { return false })
	w.Eventf(nil, nil, corev1.EventTypeNormal, "Create", "Created", "about nothing")
	if _, more := w.pop(); more {
		t.Error("an event about nothing waits")
	}
}

func TestNotesAreCut(t *testing.T) {
	for _, tc := range []struct {
		reason, note, want string
	}{
		{"a short note is whole", "short", "short"},
		{"the longest that the API takes", strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		{"a byte more is cut, as upstream cuts its scores", strings.Repeat("x", 1025), strings.Repeat("x", 1000) + "......"},
		{"a very long one", strings.Repeat("x", 100000), strings.Repeat("x", 1000) + "......"},
		{"no character is cut in two", "x" + strings.Repeat("\u20ac", 400), "x" + strings.Repeat("\u20ac", 333) + "......"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			withServer(t, false, func(ctx context.Context, s *server, w *Writer) {
				w.Eventf(placement, nil, corev1.EventTypeNormal, "Long", "Long", "%s", tc.note)
				written(ctx, t, s, w, time.Minute, "0s create "+tc.want)
			})
		})
	}
}
