// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	tracingapi "k8s.io/component-base/tracing/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// noCollector is an address without a collector.
const noCollector = "127.0.0.1:1"

func quiet(t *testing.T) context.Context {
	t.Helper()
	return klog.NewContext(t.Context(), logr.Discard())
}

func start(t *testing.T, rate int32) *Provider {
	t.Helper()
	p, err := Start(quiet(t), &Config{TracingConfiguration: tracingapi.TracingConfiguration{
		Endpoint: ptr.To(noCollector), SamplingRatePerMillion: ptr.To(rate),
	}}, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Without a file nothing is wrapped and nothing begun.
func TestWithoutAFileThereIsNothing(t *testing.T) {
	p, err := Start(quiet(t), nil, "v1")
	if err != nil || p != nil {
		t.Fatalf("got %v, %v", p, err)
	}
	config := &rest.Config{}
	if p.Spans() != nil || p.Wrap(config) != config || config.WrapTransport != nil {
		t.Error("something is wrapped")
	}
	p.Close(quiet(t))
}

// A request carries the trace that it belongs to, and one that belongs to none carries none.
func TestRequestsCarryTheirTrace(t *testing.T) {
	parents := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { parents <- r.Header.Get("Traceparent") }))
	defer server.Close()
	for _, tc := range []struct {
		reason string
		rate   int32
		traced bool
		want   bool
	}{
		{"of a trace", 1_000_000, true, true},
		{"of none", 1_000_000, false, false},
		{"of one that is not taken", 0, true, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := start(t, tc.rate)
			plain := &rest.Config{Host: server.URL}
			client, err := rest.HTTPClientFor(p.Wrap(plain))
			if err != nil || plain.WrapTransport != nil {
				t.Fatalf("got %v; the config itself is wrapped: %v", err, plain.WrapTransport != nil)
			}
			ctx := quiet(t)
			if tc.traced {
				traced, span := p.Spans().Tracer("test").Start(ctx, "test")
				defer span.End()
				ctx = traced
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if parent := <-parents; (parent != "") != tc.want {
				t.Errorf("the request is of the trace %q", parent)
			}
		})
	}
}

// A collector that is not there does not keep the hub from ending.
func TestACollectorThatIsNotThereHoldsUpNothing(t *testing.T) {
	p := start(t, 1_000_000)
	_, span := p.Spans().Tracer("test").Start(quiet(t), "test")
	span.End()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Close(quiet(t))
	}()
	select {
	case <-ended:
	case <-time.After(10 * flushTimeout):
		t.Error("it does not end")
	}
}
