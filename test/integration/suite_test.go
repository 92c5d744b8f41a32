package integration

import (
	"context"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/controller/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/controller/webhookconfig"
	"github.com/placement-hub/placement-hub/pkg/lenient"
	"github.com/placement-hub/placement-hub/test/env"
)

const (
	// settle is how long a change may take to reach the decisions on a loaded machine.
	settle = 30 * time.Second
	// collect is how long the garbage collector may take, which learns of new kinds twice a minute.
	collect = 90 * time.Second
	// quiet is how long nothing may happen to be sure that nothing will.
	quiet = 2 * time.Second
)

// hubUser is the user name of the ServiceAccount that the controllers run as.
const hubUser = "system:serviceaccount:" + manifests.Namespace + ":" + manifests.ServiceAccount

var (
	controlPlane *env.Environment
	hub          client.Client
	// stopHub ends the controllers that run now; further calls do nothing.
	stopHub func()
)

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "placement hub on a real API server")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(klog.NewKlogr())

	var err error

	controlPlane, err = env.Start(ctx, env.Options{ControllerManager: true, AuditLog: true, Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(controlPlane.Stop()).To(Succeed()) })
	Expect(manifests.Install(ctx, controlPlane.AdminConfig())).To(Succeed())

	admin := rest.CopyConfig(controlPlane.AdminConfig())
	admin.WarningHandler = rest.NoWarnings{} // Specs that are about them listen for themselves.
	hub, err = client.New(admin, client.Options{Scheme: controller.Scheme()})
	Expect(err).NotTo(HaveOccurred())

	stopHub = startHub(serviceAccount(ctx, controlPlane))

	DeferCleanup(func() { stopHub() })
})

// serviceAccount is what the hub is to a control plane.
func serviceAccount(ctx context.Context, environment *env.Environment) *rest.Config {
	GinkgoHelper()

	config, err := environment.ServiceAccountConfig(ctx, manifests.Namespace, manifests.ServiceAccount)
	Expect(err).NotTo(HaveOccurred())

	return config
}

// startHub runs the controllers in this process until the returned function is called; the settings may change how. All run but the one
// that taints every cluster of which nobody says that it is available, as most clusters of the specs are, and the one that API servers ask.
func startHub(config *rest.Config, settings ...func(*controller.Options)) (stop func()) {
	GinkgoHelper()

	options := controller.Options{Controllers: []string{"*", "-" + managedcluster.ManagedClusterTaints, "-" + webhookconfig.Defaults}}
	for _, set := range settings {
		set(&options)
	}

	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: controller.Scheme(), Cache: controller.CacheOptions(options.Namespace), NewCache: lenient.NewCache, Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(controller.Setup(mgr, options)).To(Succeed())

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)

	started.Add(1)
	running.Add(1)

	go func() { ended <- mgr.Start(ctx) }()

	return sync.OnceFunc(func() {
		defer running.Add(-1)

		cancel()
		Eventually(ended).WithTimeout(settle).Should(Receive(BeNil()))
	})
}
