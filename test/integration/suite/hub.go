// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// HubConfig returns a client configuration with the token of the hub's ServiceAccount.
func HubConfig(ctx context.Context, environment *localplane.ControlPlane) *rest.Config {
	GinkgoHelper()
	config, err := environment.ServiceAccountConfig(ctx, manifests.Namespace, manifests.ServiceAccount)
	Expect(err).NotTo(HaveOccurred())
	return config
}

// StartHub runs the controllers in this process until the returned function is called; settings change their options. Without settings, the
// controller that taints clusters and the webhook do not run: most clusters of the specs report no condition and would all be tainted.
func StartHub(config *rest.Config, settings ...func(*system.Options)) (stop func()) {
	GinkgoHelper()
	options := system.Options{Controllers: []string{"*", "-" + managedcluster.ManagedClusterTaints, "-" + webhook.Controller}}
	configure(&options)
	for _, set := range settings {
		set(&options)
	}
	forget := observeRequests(&options)

	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: system.Scheme(), Cache: options.CacheOptions(), NewCache: decoding.NewCache, Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(system.Setup(mgr, options)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	started.Add(1)
	running.Add(1)

	go func() { ended <- system.Start(ctx, mgr) }()
	return sync.OnceFunc(func() {
		defer running.Add(-1)
		forget()
		cancel()
		Eventually(ended).WithTimeout(CollectTimeout).Should(Receive(BeNil())) // Informers that a loaded API server does not answer end late.
	})
}

// PauseHub stops the hub and starts another one when the returned function is called, or when the spec ends.
func PauseHub(ctx SpecContext) (resume func()) {
	GinkgoHelper()
	account := HubConfig(ctx, ControlPlane)
	StopHub()
	resume = sync.OnceFunc(func() { StopHub = StartHub(account) })
	DeferCleanup(func() { resume() })
	return resume
}
