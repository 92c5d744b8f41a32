// SPDX-License-Identifier: Apache-2.0

package federationwebhook

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestFederationAtAdmission(t *testing.T) {
	suite.Run(t, "federated objects at admission", suite.DeletingFederated, suite.BeforeHub(installManifestWorks))
}

// installManifestWorks installs the definition of ManifestWorks, without which the system is off and its webhook gives no warning.
func installManifestWorks(ctx SpecContext) {
	Expect(manifests.InstallManifestWorks(ctx, suite.ControlPlane.AdminConfig())).To(Succeed())
}

// newFixture creates a namespace that takes part.
func newFixture(ctx context.Context) *suite.Fixture {
	GinkgoHelper()
	return suite.NewFixture(ctx, func(namespace *corev1.Namespace) {
		namespace.Labels = map[string]string{federation.FederatedLabel: "true"}
	})
}

// newConfigMap returns a ConfigMap of the fixture with annotations.
func newConfigMap(f *suite.Fixture, name string, annotations map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name, Annotations: annotations},
		Data:       map[string]string{"key": "value"},
	}
}

// heard keeps the warnings of the API server.
type heard struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader keeps the text of a warning.
func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, text)
}

// warned calls a function with a client, and returns the warnings that it got.
func warned(do func(client.Client) error) ([]string, error) {
	GinkgoHelper()
	warnings := &heard{}
	config := rest.CopyConfig(suite.ControlPlane.AdminConfig())
	config.WarningHandler = warnings
	api, err := client.New(config, client.Options{Scheme: system.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	err = do(api)
	warnings.mu.Lock()
	defer warnings.mu.Unlock()
	return slices.Clone(warnings.texts), err
}

// serve installs the system and runs its webhook until the end of the spec, and returns when the API server calls it. The returned function
// stops it before.
func serve(ctx context.Context) (stop func()) {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	install(ctx, "https://"+listener.Addr().String())

	//nolint:contextcheck // It runs until stop.
	stop = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) {
		o.Controllers = []string{"federation/webhook"}
		o.Webhook.Listener = listener
	})
	DeferCleanup(func() { stop() })

	f := newFixture(ctx)
	probe := newConfigMap(f, "probe", map[string]string{"federation.kubernetes.io/probe": ""})
	Eventually(func(g Gomega) {
		warnings, err := warned(func(api client.Client) error { return client.NewDryRunClient(api).Create(ctx, probe.DeepCopy()) })
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(warnings).NotTo(BeEmpty())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	return stop
}

// install applies the manifests of the system.
func install(ctx context.Context, base string) {
	GinkgoHelper()
	Expect(manifests.InstallSystem(ctx, suite.ControlPlane.AdminConfig(), manifests.Federation, base)).To(Succeed())
}
