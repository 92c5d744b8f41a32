// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"net"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// separateAPIServer has the specs of this container run on an API server of their own, whose clusters may have fields that nobody knows. It asks
// nobody yet.
func separateAPIServer(ctx context.Context) {
	GinkgoHelper()
	suite.SeparateAPIServer(ctx, "/asking", func(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
		for _, object := range objects {
			if object.GetName() == "managedclusters.cluster.open-cluster-management.io" {
				for _, schema := range suite.SchemasOf(object) {
					suite.SpecOf(schema)["x-kubernetes-preserve-unknown-fields"] = true
				}
			}
		}
		return objects
	})
	// The last container may have left them behind.
	Expect(manifests.RemoveWebhook(ctx, suite.ControlPlane.AdminConfig())).To(Succeed())
}

// listenForWebhook is an address that an API server on this machine can ask at, with its URL.
func listenForWebhook(ctx context.Context) (listener net.Listener, url string) {
	GinkgoHelper()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	return listener, "https://" + listener.Addr().String()
}

// startWebhook runs the controller managedcluster-defaults alone, at an address of its own, until stop is called. Nobody is told to ask it.
func startWebhook(ctx context.Context, settings ...func(*system.Options)) (url string, stop func()) {
	GinkgoHelper()
	listener, url := listenForWebhook(ctx)
	alone := func(o *system.Options) {
		o.Controllers = []string{webhook.Controller}
		o.Webhook.Listener = listener
	}
	settings = append([]func(*system.Options){alone}, settings...)
	return url, suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), settings...) //nolint:contextcheck // It runs until stop.
}

// install has the API server ask at a URL, and returns when it does.
func install(ctx context.Context, url string) {
	GinkgoHelper()
	Expect(manifests.InstallWebhook(ctx, suite.ControlPlane.AdminConfig(), url)).To(Succeed())
	awaitDefaults(ctx)
}

// awaitDefaults waits until a new cluster gets its defaults.
func awaitDefaults(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(tried(ctx, g).Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, "default"))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// tried is a cluster as it would be made.
func tried(ctx context.Context, g Gomega) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "tried"}}
	g.Expect(client.NewDryRunClient(suite.Client).Create(ctx, cluster)).To(Succeed())
	return cluster
}

// certificatesOf is the Secret of the webhook.
func certificatesOf(ctx context.Context, g Gomega) *corev1.Secret {
	secret := &corev1.Secret{}
	g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: manifests.Namespace, Name: webhookserver.Secret}, secret)).To(Succeed())
	return secret
}

// webhookBundles are the authorities that the two configurations say to trust.
func webhookBundles(ctx context.Context, g Gomega) []string {
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: webhook.Configuration}, mutating)).To(Succeed())
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: webhook.Configuration}, validating)).To(Succeed())
	return []string{string(mutating.Webhooks[0].ClientConfig.CABundle), string(validating.Webhooks[0].ClientConfig.CABundle)}
}

// trustingSecret waits until the configurations say to trust what is in the Secret.
func trustingSecret(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		bundle := string(certificatesOf(ctx, g).Data["ca-bundle.crt"])
		g.Expect(webhookBundles(ctx, g)).To(Equal([]string{bundle, bundle}))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// webhookWrites are the requests of the hub that write its Secret or the configurations.
func webhookWrites(g Gomega) []string {
	writes := []string{}
	events, err := suite.ControlPlane.Writes(localplane.By(suite.HubUser))
	g.Expect(err).NotTo(HaveOccurred())
	for _, event := range events {
		switch event.ObjectRef.Resource {
		case "secrets", "mutatingwebhookconfigurations", "validatingwebhookconfigurations":
			writes = append(writes, event.Verb+" "+event.ObjectRef.Resource+"/"+event.ObjectRef.Name)
		}
	}
	return writes
}
