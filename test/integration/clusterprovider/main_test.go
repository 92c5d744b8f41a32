// SPDX-License-Identifier: Apache-2.0

package clusterprovider

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// namespace has the Clusters, and provider is the name of the ClusterProvider.
	namespace = "team"
	provider  = "loopback"
)

// assets has the kube-apiserver that the provider starts.
var assets binaries.Assets

func TestLoopback(t *testing.T) {
	suite.Run(t, "the loopback provider", suite.OnlyAPIServer, suite.BeforeHub(prepare))
}

// prepare installs the definitions and the configuration of the provider. The clusters share the etcd of the hub.
func prepare(ctx SpecContext) {
	var err error
	assets, err = binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	for _, pattern := range []string{"clusterrequest/*_*.yaml", "clusterprovider/*.yaml"} {
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), providers.Definitions(pattern))).To(Succeed())
	}

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
