// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/planes"
)

const (
	// durationVariable says how long everything comes and goes, and defaultDuration is how long it does so otherwise.
	durationVariable = "SOAK_DURATION"
	defaultDuration  = 10 * time.Second
	// settle is how long a round may wait for one thing on a loaded machine.
	settle = 2 * time.Minute
	// warmUp is how many rounds there are before the memory is measured: caches, pools and connections have their size then.
	warmUp = 3
	// mostGrowth is how much the heap may grow: most of it are the events of the last minutes, of which the hub remembers a thousand.
	mostGrowth = 6 << 20
)

// duration is how long the test is to run.
func duration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(durationVariable)
	if text == "" {
		return defaultDuration
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", durationVariable, err)
	}
	return parsed
}

// start runs a control plane and the controllers, and returns a client of it.
func start(t *testing.T) client.Client {
	t.Helper()
	g := NewWithT(t)

	plane := planes.Lend(t)
	account, err := plane.ServiceAccountConfig(t.Context(), manifests.Namespace, manifests.ServiceAccount)
	g.Expect(err).NotTo(HaveOccurred())
	options := system.Options{Controllers: []string{"*", "-" + managedcluster.ManagedClusterTaints, "-" + webhook.Controller}}
	mgr, err := ctrl.NewManager(account, ctrl.Options{
		Scheme: system.Scheme(), Cache: options.CacheOptions(), Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(system.Setup(mgr, options)).To(Succeed())

	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- system.Start(ctx, mgr) }()
	t.Cleanup(func() {
		cancel()
		g.Expect(<-ended).To(Succeed())
	})
	config := rest.CopyConfig(plane.AdminConfig())
	config.WarningHandler = rest.NoWarnings{}
	config.QPS = -1

	hub, err := client.New(config, client.Options{Scheme: system.Scheme()})
	g.Expect(err).NotTo(HaveOccurred())
	return hub
}

// heapInUse is how many bytes are reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // Pools give up what they hold at the second one.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Everything comes and goes for a while, and the heap returns to where it was.
func TestMemoryReturnsToWhereItWas(t *testing.T) {
	ctrl.SetLogger(klog.NewKlogr())
	lasting := duration(t)
	c := &churn{hub: start(t), g: NewWithT(t)}
	c.stays(t.Context())
	for range warmUp {
		c.round(t.Context())
	}
	before, first := heapInUse(), c.rounds

	for began := time.Now(); time.Since(began) < lasting; {
		c.round(t.Context())
	}
	after := heapInUse()
	t.Logf("%d rounds of %d namespaces: %d KiB before, %d KiB after", c.rounds-first, namespaces, before>>10, after>>10)
	if after-before > mostGrowth {
		t.Errorf("the heap has grown by %d bytes in %d rounds, from %d", after-before, c.rounds-first, before)
	}
}
