// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestWrites(t *testing.T) {
	suite.Run(t, "what placement diff expects of writes", suite.OnlyAPIServer, suite.BeforeHub(install))
}

// install installs the definitions and the admission policies of all kinds that are compared. Nothing serves the webhooks.
func install(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.Install(ctx, admin)).To(Succeed())
	for _, name := range []string{manifests.PodScheduling, manifests.ClusterRequest, manifests.AffinityClass} {
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
}
