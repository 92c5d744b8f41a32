// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// collector takes traces as any OpenTelemetry collector does, over OTLP.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer

	address string

	mu       sync.Mutex
	services map[string]bool
	spans    []*tracev1.Span
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	suite.Must(t, err)
	c := &collector{address: listener.Addr().String(), services: map[string]bool{}}
	server := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, c)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		suite.Must(t, <-served)
	})
	return c
}

// Export takes spans.
func (c *collector) Export(
	_ context.Context, request *collectorv1.ExportTraceServiceRequest,
) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, attribute := range resource.GetResource().GetAttributes() {
			if attribute.GetKey() == "service.name" {
				c.services[attribute.GetValue().GetStringValue()] = true
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// attributes are those of a span as text.
func attributes(span *tracev1.Span) map[string]string {
	texts := map[string]string{}
	for _, attribute := range span.GetAttributes() {
		switch value := attribute.GetValue().GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			texts[attribute.GetKey()] = value.StringValue
		case *commonv1.AnyValue_IntValue:
			texts[attribute.GetKey()] = strconv.FormatInt(value.IntValue, 10)
		case *commonv1.AnyValue_BoolValue:
			texts[attribute.GetKey()] = strconv.FormatBool(value.BoolValue)
		}
	}
	return texts
}

// evaluation finds the spans of the evaluation of a placement that a cause woke and that wrote selected clusters, by name and with the requests
// under HTTP: one of each, but for those.
func (c *collector) evaluation(placement types.NamespacedName, cause string) (map[string][]*tracev1.Span, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, root := range c.spans {
		about := attributes(root)
		if root.GetName() != "reconcile" || about["placement.namespace"] != placement.Namespace || about["placement.name"] != placement.Name ||
			about["cause"] != cause || about["writes"] == "0" || about["clusters.selected"] == "0" {
			continue
		}
		spans := map[string][]*tracev1.Span{}
		for _, span := range c.spans {
			if bytes.Equal(span.GetTraceId(), root.GetTraceId()) {
				name := span.GetName()
				if span.GetKind() == tracev1.Span_SPAN_KIND_CLIENT {
					name = "HTTP"
				}
				spans[name] = append(spans[name], span)
			}
		}
		return spans, nil
	}
	return nil, fmt.Errorf("none of the %d spans is of an evaluation of %s because of a %s", len(c.spans), placement, cause)
}

// The way of one change through the hub is a trace in a collector: what woke the placement, what was decided and planned, and each request
// that was written, and nothing is traced that belongs to no evaluation. What was not sent yet is sent at the end.
func TestAChangeIsATrace(t *testing.T) {
	h, c := suite.StartHub(t), startCollector(t)
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	suite.Must(t, os.WriteFile(file, []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: "+c.address+
		"\nsamplingRatePerMillion: 1000000\n"), 0o600))
	payments := types.NamespacedName{Namespace: "team-a", Name: "payments"}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: payments.Namespace}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: payments.Namespace, Name: "default"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "default"},
		},
		&clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: payments.Namespace, Name: payments.Name},
			Spec: clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{
				RequiredClusterSelector: clusterv1beta1.ClusterSelector{
					LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
				},
			}}},
		},
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c7", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "default"}}},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}

	r := h.StartReplica(t, suite.Unevaluated, "--tracing-config-file="+file)
	suite.Eventually(t, "waiting for the placement to be evaluated with its set", func() error {
		placement := &clusterv1beta1.Placement{}
		if err := h.Client.Get(t.Context(), payments, placement); err != nil {
			return err
		}
		satisfied := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied)
		if satisfied == nil || satisfied.Reason != "NoManagedClusterMatched" {
			return fmt.Errorf("its condition is %v", satisfied)
		}
		return nil
	})
	h.MoveCluster(t, "c7", "eu")
	h.WantDecisions(t, payments, "c7")
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)

	spans, err := c.evaluation(payments, "cluster")
	suite.Must(t, err)
	checkTrace(t, spans)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.services["placement-hub"] || len(c.services) != 1 {
		t.Errorf("the traces are of %v, want of placement-hub", c.services)
	}
	for _, span := range c.spans {
		if len(span.GetParentSpanId()) == 0 && span.GetName() != "reconcile" {
			t.Errorf("%s is a trace by itself", span.GetName())
		}
	}
}

func checkTrace(t *testing.T, spans map[string][]*tracev1.Span) {
	t.Helper()
	for name, parent := range map[string]string{
		"reconcile": "", "event": "reconcile", "schedule": "reconcile", "plan": "reconcile", "write": "reconcile", "HTTP": "write",
	} {
		if len(spans[name]) == 0 || name != "HTTP" && len(spans[name]) != 1 {
			t.Fatalf("%d spans %s", len(spans[name]), name)
		}
		for _, span := range spans[name] {
			want := ""
			if parent != "" {
				want = hex.EncodeToString(spans[parent][0].GetSpanId())
			}
			if got := hex.EncodeToString(span.GetParentSpanId()); got != want {
				t.Errorf("the parent of %s is %q, want %s %q", name, got, parent, want)
			}
		}
	}
	whole := spans["reconcile"][0]
	for _, named := range spans {
		for _, span := range named {
			t.Logf("%s: %v %v", span.GetName(), attributes(span), span.GetStatus())
		}
	}
	for name, want := range map[string]map[string]string{
		"event":    {"cause": "cluster"},
		"schedule": {"clusters.selected": "1"},
		"plan":     {"clusters.selected": "1", "writes": "1"},
		"write":    {"clusters.selected": "1", "stalled": "false"},
	} {
		span := spans[name][0]
		about := attributes(span)
		for key, value := range want {
			if about[key] != value {
				t.Errorf("%s of %s is %q, want %s", key, name, about[key], value)
			}
		}
		if about["placement.namespace"] != "team-a" || about["placement.name"] != "payments" {
			t.Errorf("%s is about %v", name, about)
		}
		if name != "event" && about["generation"] == "" {
			t.Errorf("%s does not say on which view of the world", name)
		}
		if span.GetStartTimeUnixNano() < whole.GetStartTimeUnixNano() || span.GetEndTimeUnixNano() > whole.GetEndTimeUnixNano() {
			t.Errorf("%s is not within the evaluation", name)
		}
	}
	done := 0
	for _, span := range spans["HTTP"] {
		if span.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_ERROR {
			done++
		}
	}
	if writes := attributes(spans["write"][0])["writes"]; writes != strconv.Itoa(done) || done == 0 {
		t.Errorf("%s writes, and %d requests that were done", writes, done)
	}
}

// A mistake in the file is one in the command line.
func TestTracingConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	const content = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: -1\n"
	suite.Must(t, os.WriteFile(file, []byte(content), 0o600))
	for _, command := range []string{"controller", "run"} {
		p := suite.Run(t, command, "--tracing-config-file="+file)
		p.WantExit(t, 2)
		p.WantStderr(t, "--tracing-config-file", "samplingRatePerMillion", "-1", "Run 'placement "+command+" --help'")
	}
}
