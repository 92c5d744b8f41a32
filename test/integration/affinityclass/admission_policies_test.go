// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Policies and classes together, docs/spec/pod-scheduling-policy.md", func() {
	It("K31, cluster-request X4: a policy injects what the chart forgot, and the pods are admitted and bound in dc1", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		Expect(suite.Client.Create(ctx, newRelease(namespace, "main-db", "dc1"))).To(Succeed())
		set := newStatefulSet(namespace, "db", 0, nil)
		Expect(suite.Client.Create(ctx, set)).To(Succeed())
		expectDenied(ctx, newPod(namespace, nil, owner(set)), "dc1", zone+"=dc1")

		policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		policy.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
		policy.Spec.PodSelector = &metav1.LabelSelector{}
		policy.Spec.NodeSelector = inDC1
		Expect(suite.Client.Create(ctx, policy)).To(Succeed())
		DeferCleanup(deleteNow, policy)

		Eventually(func() error {
			_, err := tryPod(ctx, newPod(namespace, nil, owner(set)))
			return err
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), "the webhook of the policies has the policy")

		forgetful := newStatefulSet(namespace, "forgetful", 1, nil)
		Expect(suite.Client.Create(ctx, forgetful)).To(Succeed())
		Expect(forgetful.Spec.Template.Spec.NodeSelector).To(Equal(inDC1))
		Eventually(func(g Gomega) {
			pod := &corev1.Pod{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "forgetful-0"}, pod)).To(Succeed())
			g.Expect(pod.Spec.NodeSelector).To(Equal(inDC1))
			g.Expect(pod.Spec.NodeName).To(Equal("n-dc1"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		// What the workload says itself is never overwritten, so a policy mends no pod that asks for other nodes.
		expectDenied(ctx, newPod(namespace, map[string]string{zone: "dc2"}, owner(set)), "dc1", zone+"=dc1")
	})
})
