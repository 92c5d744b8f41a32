// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const (
	// service is the service.name of the traces.
	service = "placement-hub"
	// flushTimeout bounds the flush of the last spans.
	flushTimeout = 3 * time.Second
)

// Provider sends traces. A nil Provider sends none.
type Provider struct {
	spans tracing.TracerProvider
}

// Start returns a Provider; nil without a configuration. It does not wait for the collector.
func Start(ctx context.Context, config *Config, version string) (*Provider, error) {
	if config == nil {
		return nil, nil
	}
	log := klog.FromContext(ctx)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Error(err, "Sending traces") }))
	attributes := []attribute.KeyValue{attribute.String("service.name", service), attribute.String("service.version", version)}
	if host, err := os.Hostname(); err == nil {
		attributes = append(attributes, attribute.String("service.instance.id", host))
	}
	about := []resource.Option{resource.WithFromEnv(), resource.WithAttributes(attributes...)}
	// The exporter must not end with ctx before the last spans are flushed.
	spans, err := tracing.NewProvider(context.WithoutCancel(ctx), &config.TracingConfiguration, nil, about)
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w; check the endpoint in the file of --%s", err, Flag)
	}
	rate := ptr.Deref(config.SamplingRatePerMillion, 0)
	log.Info("Tracing", "endpoint", ptr.Deref(config.Endpoint, "localhost:4317"), "samplingRatePerMillion", rate)
	if rate == 0 {
		log.Info("No trace is taken because samplingRatePerMillion is 0 or left out: nobody who traces calls the controllers")
	}
	return &Provider{spans: spans}, nil
}

// Spans returns the TracerProvider; nil without a provider.
func (p *Provider) Spans() trace.TracerProvider {
	if p == nil {
		return nil
	}
	return p.spans
}

// Wrap returns a copy of the config whose requests carry the trace that they belong to.
func (p *Provider) Wrap(config *rest.Config) *rest.Config {
	if p == nil {
		return config
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(plain http.RoundTripper) http.RoundTripper {
		return &transport{plain: plain, traced: tracing.WrapperFor(p.spans)(plain)}
	})
	return config
}

// Close flushes the spans, at most flushTimeout. An error is only logged.
func (p *Provider) Close(ctx context.Context) {
	if p == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := p.spans.Shutdown(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "Sending the last traces")
	}
}

// transport traces the requests that belong to a trace, and no others: a watch or the renewal of a lease would be a trace by itself.
type transport struct {
	plain, traced http.RoundTripper
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if trace.SpanContextFromContext(request.Context()).IsSampled() {
		return t.traced.RoundTrip(request) //nolint:wrapcheck // A transport hands on what it gets.
	}
	return t.plain.RoundTrip(request) //nolint:wrapcheck // As above.
}

// WrappedRoundTripper is the transport below, so that callers can unwrap it.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.plain }
