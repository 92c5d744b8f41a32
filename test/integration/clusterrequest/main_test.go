// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/access"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/controller"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const hubAccount = "hub"

var (
	// proxy is between the hub and the API server.
	proxy *faults.Proxy
	// requestOptions are those of the hub that startHub starts.
	requestOptions clusterrequest.Options
)

func TestClusterRequests(t *testing.T) {
	suite.Run(t, "ClusterRequests", suite.OnlyAPIServer, suite.BeforeHub(prepare), suite.StartedBy(startAll))
}

// prepare installs the definitions of cluster.openmcp.cloud, the providers, and the account of the hub.
func prepare(ctx SpecContext) {
	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), providers.Definitions("clusterrequest/*_*.yaml"))).To(Succeed())

	account := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: hubAccount}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: clusterrequest.DefaultSharedNamespace}},
		&corev1.ServiceAccount{ObjectMeta: account},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: hubAccount},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
		},
		gardener(),
		&openmcpv1alpha1.ClusterProvider{
			ObjectMeta: metav1.ObjectMeta{Name: otherProvider}, Spec: openmcpv1alpha1.ClusterProviderSpec{Access: true},
		},
	} {
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
	}

	provider := gardener()
	Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(provider), provider)).To(Succeed())
	provider.Status = gardener().Status
	Expect(suite.Client.Status().Update(ctx, provider)).To(Succeed())
	config, err := suite.ControlPlane.ServiceAccountConfig(ctx, account.Namespace, account.Name)
	Expect(err).NotTo(HaveOccurred())
	proxy, err = faults.Start(config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(proxy.Close()).To(Succeed()) })
}

// startAll starts the hub and the providers, which run until the suite ends.
func startAll(context.Context) {
	startHub()       //nolint:contextcheck // It runs until StopHub.
	startProviders() //nolint:contextcheck // They run until the suite ends.
}

// startProviders starts the providers, which end with the suite.
func startProviders() {
	reached.config = suite.ControlPlane.AdminConfig()
	startProvider(suite.ControlPlane.AdminConfig(), gardenerProvider)
	startProvider(suite.ControlPlane.AdminConfig(), otherProvider)
}

// restartHub ends the hub, and starts one with other options, which the specs after this one do not have.
func restartHub(options clusterrequest.Options) {
	GinkgoHelper()
	suite.StopHub()
	requestOptions = options
	startHub()
	DeferCleanup(func() {
		suite.StopHub()
		requestOptions = clusterrequest.Options{}
		startHub()
	})
}

// startHub starts the controllers with several workers behind the proxy.
func startHub() {
	GinkgoHelper()
	config := rest.CopyConfig(proxy.Config())
	config.QPS, config.Burst = 1000, 1000

	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: klog.Background(),
	})
	Expect(err).NotTo(HaveOccurred())
	settings := queue.Settings{Workers: 8, Timeout: time.Minute, Clock: hubTime}
	Expect(controller.SetupRequests(mgr, settings, requestOptions, nil)).To(Succeed())
	Expect(access.Setup(mgr, settings)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background()) // It runs until StopHub.
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()

	suite.StopHub = sync.OnceFunc(func() {
		cancel()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
}
