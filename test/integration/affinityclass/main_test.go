// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"context"
	"net"
	"net/http"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/loopback"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	zone = "topology.kubernetes.io/zone"
	gpu  = "node.kubernetes.io/gpu"
)

// webhookAddress is where the hub serves its webhooks.
var webhookAddress string

func TestAffinityClasses(t *testing.T) {
	suite.Run(t, "AffinityClasses, Tenants and applications", suite.WithWorkloads, suite.BeforeHub(prepare),
		suite.StartedBy(func(ctx context.Context) { startHub(ctx) }))
}

// prepare installs the definitions of the platform, Nodes in two zones, and the classes dc1, dc2 and gpu.
func prepare(ctx SpecContext) {
	var err error
	webhookAddress, err = loopback.FreeAddress(ctx)
	Expect(err).NotTo(HaveOccurred())
	installPlatform(ctx)
	for name, labels := range map[string]map[string]string{
		"n-dc1": {zone: "dc1"}, "n-dc2": {zone: "dc2"},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		Expect(suite.ControlPlane.CreateNode(ctx, node)).To(Succeed())
	}

	for name, selector := range map[string]map[string]cozystackv1alpha1.NodeLabelValue{
		"dc1": {zone: "dc1"}, "dc2": {zone: "dc2"}, "gpu": {gpu: "true"},
	} {
		Expect(suite.Client.Create(ctx, newClass(name, selector))).To(Succeed())
	}
}

// installPlatform applies the manifests of both systems, and the definitions that Flux and the platform bring.
func installPlatform(ctx context.Context) {
	GinkgoHelper()
	config := suite.ControlPlane.AdminConfig()

	platform, err := os.Open("testdata/platform.yaml")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(platform.Close)
	definitions, err := manifests.Decode(platform, platform.Name())
	Expect(err).NotTo(HaveOccurred())
	Expect(manifests.Apply(ctx, config, definitions)).To(Succeed())
	for _, system := range []string{manifests.PodScheduling, manifests.AffinityClass} {
		Expect(manifests.InstallSystem(ctx, config, system, "https://"+webhookAddress)).To(Succeed())
	}

	Expect(client.IgnoreAlreadyExists(suite.Client.Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant-root"},
	}))).To(Succeed())
}

// startHub starts all controllers of AffinityClasses and of pod scheduling policies, and returns when the API server gets answers to its
// reviews. Settings change the options. suite.StopHub stops them.
func startHub(ctx context.Context, settings ...func(*system.Options)) {
	GinkgoHelper()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", webhookAddress)
	Expect(err).NotTo(HaveOccurred())
	underTest := func(o *system.Options) {
		o.Controllers = []string{manifests.AffinityClass + "/*", manifests.PodScheduling + "/*"}
		o.Webhook.Listener = listener
	}
	//nolint:contextcheck // It runs until StopHub.
	suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), append([]func(*system.Options){underTest}, settings...)...)
	Eventually(func(g Gomega) { // A Tenant with a dash is refused by the webhook and by nothing else.
		err := client.NewDryRunClient(suite.Client).Create(ctx, newTenant("tenant-root", "a-dash", ""))
		g.Expect(err).To(refusedWith(http.StatusUnprocessableEntity, "dash"))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}
