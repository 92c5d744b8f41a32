// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestApply(t *testing.T) {
	suite.Run(t, "server-side apply that the API server cannot carry out", ownPlane, suite.DeletingFederated, suite.BeforeHub(install),
		suite.ConfigureHub(func(o *system.Options) {
			o.Controllers = append(o.Controllers, "federation/objects", "clusters-inventory", "affinityclass/classes", "affinityclass/applications",
				manifests.ClusterProfiles)
		}))
}

// ownPlane starts a control plane that no other package has, because the specs change definitions.
func ownPlane(o *suite.Options) { o.Plane = &localplane.Options{AuditLog: true, Log: GinkgoWriter} }

// install installs the systems, the kinds of a platform, and the rights of providers. Nothing serves the webhooks.
func install(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallManifestWorks(ctx, admin)).To(Succeed())
	Expect(manifests.InstallMulticluster(ctx, admin)).To(Succeed())
	for _, name := range []string{manifests.ClusterProfiles, manifests.Federation, manifests.ClusterRequest, manifests.AffinityClass} {
		objects, err := manifests.System(name, "")
		Expect(err).NotTo(HaveOccurred())
		var kept []*unstructured.Unstructured
		for _, object := range objects {
			if !strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
				kept = append(kept, object)
			}
		}
		Expect(manifests.Apply(ctx, admin, kept)).To(Succeed())
	}

	Expect(manifests.Apply(ctx, admin, providers.Definitions("clusterprovider/*.yaml"))).To(Succeed())
	const platform = "../tenancy/testdata/definitions.yaml"
	content, err := os.Open(platform)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(content.Close()).To(Succeed()) }()
	kinds, err := manifests.Decode(content, platform)
	Expect(err).NotTo(HaveOccurred())
	Expect(manifests.Apply(ctx, admin, kinds)).To(Succeed())
	root := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: affinityclass.RootNamespace}}
	Expect(suite.Client.Create(ctx, root)).To(Succeed())
}
