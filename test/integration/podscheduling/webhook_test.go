// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"net"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/loopback"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// listen listens at an address on this machine; at any free port if the address is empty.
func listen(ctx context.Context, address string) (listener net.Listener) {
	GinkgoHelper()
	if address == "" {
		var err error
		address, err = loopback.FreeAddress(ctx) // No connection takes the port between two listeners.
		Expect(err).NotTo(HaveOccurred())
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	Expect(err).NotTo(HaveOccurred())
	return listener
}

// startWebhook runs the controller podscheduling/webhook alone, until stop is called.
func startWebhook(ctx context.Context, listener net.Listener, settings ...func(*system.Options)) (stop func()) {
	GinkgoHelper()
	alone := func(o *system.Options) {
		o.Controllers = []string{"podscheduling/*"}
		o.Webhook.Listener = listener
	}

	//nolint:contextcheck // It runs until stop.
	return suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), append([]func(*system.Options){alone}, settings...)...)
}

// serve installs the system podscheduling and runs its controller until the end of the spec or container, and returns when the API server
// calls it. The returned function stops it before.
func serve(ctx context.Context, settings ...func(*system.Options)) (stop func()) {
	GinkgoHelper()
	return serveAt(ctx, listen(ctx, ""), settings...)
}

// serveAt is serve with a listener.
func serveAt(ctx context.Context, listener net.Listener, settings ...func(*system.Options)) (stop func()) {
	GinkgoHelper()
	url := "https://" + listener.Addr().String()
	Expect(manifests.InstallSystem(ctx, suite.ControlPlane.AdminConfig(), manifests.PodScheduling, url)).To(Succeed())
	stop = startWebhook(ctx, listener, settings...)
	DeferCleanup(func() { stop() })
	f := suite.NewFixture(ctx)
	expectAccount(ctx, f.Namespace)
	awaitPolicies(ctx, f)
	return stop
}

// mutatingConfiguration returns the MutatingWebhookConfiguration of the system.
func mutatingConfiguration(ctx context.Context, g Gomega) *admissionregistrationv1.MutatingWebhookConfiguration {
	found := &admissionregistrationv1.MutatingWebhookConfiguration{}
	g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: webhook.Configuration}, found)).To(Succeed())
	return found
}

// failurePolicies returns the failure policies in both configurations of the system.
func failurePolicies(ctx context.Context, g Gomega) []admissionregistrationv1.FailurePolicyType {
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: webhook.Configuration}, validating)).To(Succeed())
	return []admissionregistrationv1.FailurePolicyType{
		*mutatingConfiguration(ctx, g).Webhooks[0].FailurePolicy, *validating.Webhooks[0].FailurePolicy,
	}
}
