// SPDX-License-Identifier: Apache-2.0

//go:build conformance

package toy

import (
	"os"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/placement-hub/placement-hub/conformance"
)

// TestConformance checks the producer and the consumer of this package on the API server of KUBECONFIG: it is what an implementation writes for its
// own driver. REPORT is the directory of the report.
func TestConformance(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = -1, 0
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	producer := &Producer{Client: client}
	if err := producer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := producer.Kill(t.Context()); err != nil {
			t.Error(err)
		}
	})

	suite := conformance.New(t, conformance.Options{
		Implementation: "toy", Quiet: 500 * time.Millisecond, // It answers at once.
		ReportDirectory: os.Getenv("REPORT"),
	})
	t.Run("CRD", suite.TestCRD)
	t.Run("Producer", func(t *testing.T) { suite.TestProducer(t, producer) })
	t.Run("Consumer", func(t *testing.T) { suite.TestConsumer(t, &Consumer{Client: client}) })
}
