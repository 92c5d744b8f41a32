// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
)

// Options say what is checked, and where.
type Options struct {
	// Implementation is the name and version of what is checked, for the report.
	Implementation string
	// Config is for an API server whose objects the suite may create and delete. Nil means the file in the variable KUBECONFIG.
	Config *rest.Config
	// Level is up to which level a producer is checked: Core, Extended or Strict, which is the default.
	Level Level
	// Timeout is how long the implementation may take for one step: 30 seconds by default.
	Timeout time.Duration
	// Quiet is how long nothing may happen for the implementation to count as settled: 2 seconds by default.
	Quiet time.Duration
	// ReportDirectory is where report.yaml and report.html are written when the test ends. Empty means nowhere.
	ReportDirectory string
}

// Suite checks one implementation.
type Suite struct {
	options   Options
	client    versioned.Interface
	dynamic   dynamic.Interface
	report    *Report
	namespace string // the prefix of all namespaces
	spaces    int
}

// namespacePrefix precedes the names of the namespaces that the suite creates.
const namespacePrefix = "conformance-"

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// New returns a suite whose report is written when the test ends.
func New(t *testing.T, o Options) *Suite {
	t.Helper()
	s, err := NewSuite(o)
	if err != nil {
		t.Fatal(err)
	}
	if o.ReportDirectory != "" {
		t.Cleanup(func() {
			if err := s.report.WriteFiles(o.ReportDirectory); err != nil {
				t.Error(err)
			}
		})
	}
	return s
}

// NewSuite returns a suite for programs that are no tests. They write the report themselves.
func NewSuite(o Options) (*Suite, error) {
	o.Level = cmp.Or(o.Level, Strict)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Quiet = cmp.Or(o.Quiet, 2*time.Second)
	if o.Config == nil {
		file := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
		if file == "" {
			return nil, fmt.Errorf("the suite has no API server: set Options.Config or the variable %s", clientcmd.RecommendedConfigPathEnvVar)
		}
		config, err := clientcmd.BuildConfigFromFlags("", file)
		if err != nil {
			return nil, fmt.Errorf("read the kubeconfig %s: %w", file, err)
		}
		o.Config = config
	}
	config := rest.CopyConfig(o.Config)
	config.QPS, config.Burst = -1, 0

	s := &Suite{options: o, report: newReport(o.Implementation), namespace: namespacePrefix + strings.ToLower(rand.Text()[:8])}
	var err error
	if s.client, err = versioned.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return s, nil
}

// Report returns the results so far.
func (s *Suite) Report() *Report { return s.report }

// createNamespace creates a namespace, and returns its name and what deletes it.
func (s *Suite) createNamespace(ctx context.Context, name string) (string, func(), error) {
	s.spaces++
	name = fmt.Sprintf("%s-%s-%d", s.namespace, name, s.spaces)
	if _, err := s.dynamic.Resource(namespaces).Create(ctx, object("v1", "Namespace", "", name, nil), metav1.CreateOptions{}); err != nil {
		return "", nil, fmt.Errorf("create Namespace %s: %w", name, err)
	}
	return name, func() {
		// The API server may have no controller that empties the namespace. What an error leaves is in a namespace of this run alone.
		background := context.WithoutCancel(ctx)
		everything := []schema.GroupVersionResource{placementDecisions, clusterProfiles}
		for _, resource := range everything {
			_ = s.dynamic.Resource(resource).Namespace(name).DeleteCollection(background, metav1.DeleteOptions{}, metav1.ListOptions{})
		}
		_ = s.dynamic.Resource(namespaces).Delete(background, name, metav1.DeleteOptions{})
	}, nil
}

// runSubtests runs a subtest for each rule, which passes, fails or is skipped as its result says.
func runSubtests(t *testing.T, results []Result) {
	t.Helper()
	for _, result := range results {
		t.Run(result.ID, func(t *testing.T) {
			t.Log(result.Title)
			switch result.Outcome {
			case Failed:
				for _, finding := range result.Findings {
					t.Error(finding)
				}
			case Skipped:
				t.Skip(result.Reason)
			case Passed:
			}
		})
	}
}
