// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// failing is a setting of the flag --webhook-failure-policy.
func failing(policy admissionregistrationv1.FailurePolicyType) func(*system.Options) {
	return func(o *system.Options) { o.PolicyFailure = policy }
}

// expectFailurePolicy waits until both configurations have a failure policy.
func expectFailurePolicy(ctx context.Context, policy admissionregistrationv1.FailurePolicyType) {
	GinkgoHelper()
	Eventually(func(g Gomega) { g.Expect(failurePolicies(ctx, g)).To(HaveEach(policy)) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

var _ = Describe("The failure policy", func() {
	It("K28: Ignore creates workloads unmutated while the webhook is down, and Fail refuses them", func(ctx SpecContext) {
		stop := serve(ctx)
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		stop()
		Expect(tried(ctx, workload(f, "Deployment", "etcd", "etcd", ""))).NotTo(HaveKey("nodeSelector"))
		stop = serve(ctx, failing(admissionregistrationv1.Fail))
		expectFailurePolicy(ctx, admissionregistrationv1.Fail)
		stop()

		Eventually(func() error {
			return client.NewDryRunClient(suite.Client).Create(ctx, workload(f, "Deployment", "etcd", "etcd", ""))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(ContainSubstring(`failed calling webhook "mutate.kupid.gardener.cloud"`)))

		// The hub makes it Ignore again for the specs that follow.
		serve(ctx)
		expectFailurePolicy(ctx, admissionregistrationv1.Ignore)
	})

	It("K36: the edits of an administrator stay when the hub restarts with another failure policy", func(ctx SpecContext) {
		listener := listen(ctx, "")
		stop := serveAt(ctx, listener)
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")

		edited := mutatingConfiguration(ctx, Default)
		edited.Webhooks[0].Rules = edited.Webhooks[0].Rules[1:]
		edited.Webhooks[0].NamespaceSelector.MatchExpressions = append(edited.Webhooks[0].NamespaceSelector.MatchExpressions,
			metav1.LabelSelectorRequirement{Key: "unconstrained", Operator: metav1.LabelSelectorOpDoesNotExist})
		edited.Webhooks[0].ClientConfig.CABundle = nil
		Expect(suite.Client.Update(ctx, edited)).To(Succeed())
		stop()
		stop = startWebhook(ctx, listen(ctx, listener.Addr().String()), failing(admissionregistrationv1.Fail))
		DeferCleanup(func() { stop() })
		expectFailurePolicy(ctx, admissionregistrationv1.Fail)

		found := mutatingConfiguration(ctx, Default).Webhooks[0]
		Expect(found.Rules).To(Equal(edited.Webhooks[0].Rules))
		Expect(found.NamespaceSelector).To(Equal(edited.Webhooks[0].NamespaceSelector))
		Expect(found.ClientConfig.CABundle).NotTo(BeEmpty())

		Eventually(func(g Gomega) {
			pod, deployment := workload(f, "Pod", "etcd", "etcd", ""), workload(f, "Deployment", "etcd", "etcd", "")
			g.Expect(client.NewDryRunClient(suite.Client).Create(ctx, pod)).To(Succeed())
			g.Expect(podSpec(pod)).NotTo(HaveKey("nodeSelector"), "the rule for Pods is gone")
			g.Expect(client.NewDryRunClient(suite.Client).Create(ctx, deployment)).To(Succeed())
			g.Expect(podSpec(deployment)).To(HaveKey("nodeSelector"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		stop()

		serve(ctx)
		expectFailurePolicy(ctx, admissionregistrationv1.Ignore)
	})
})
