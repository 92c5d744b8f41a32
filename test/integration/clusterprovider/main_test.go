package clusterprovider

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// namespace has the Clusters, and provider is the name of the ClusterProvider.
	namespace = "team"
	provider  = "loopback"
)

var (
	// plane is the control plane of the hub, whose etcd the clusters share.
	plane *localplane.ControlPlane
	// assets has the kube-apiserver that the provider starts.
	assets binaries.Assets
)

func TestLoopback(t *testing.T) {
	RegisterFailHandler(Fail)
	BeforeSuite(start)
	RunSpecs(t, "the loopback provider")
}

// start starts the control plane of the hub, with the definitions and the configuration of the provider.
func start(ctx SpecContext) {
	ctrl.SetLogger(klog.NewKlogr())

	var err error

	assets, err = binaries.Find()
	Expect(err).NotTo(HaveOccurred())

	plane, err = localplane.Start(ctx, localplane.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })

	for _, pattern := range []string{"clusterrequest/*_*.yaml", "clusterprovider/*.yaml"} {
		Expect(manifests.Apply(ctx, plane.AdminConfig(), providers.Definitions(pattern))).To(Succeed())
	}

	suite.Client, err = client.New(plane.AdminConfig(), client.Options{Scheme: scheme.New()})
	Expect(err).NotTo(HaveOccurred())

	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&loopbackv1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Name: "here"},
			Spec: loopbackv1alpha1.ProviderConfigSpec{
				ProviderRef: openmcpv1alpha1.ObjectName{Name: provider},
				Profiles: []loopbackv1alpha1.Profile{{
					Name: "default", Versions: []openmcpv1alpha1.SupportedVersion{{Version: "1.36.3"}},
					Traits: []openmcpv1alpha1.SupportedTrait{{Trait: "cluster.openmcp.cloud/workerless"}},
				}},
			},
		},
	} {
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
	}
}
