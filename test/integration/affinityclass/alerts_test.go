// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/manifests"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// Series of the hub.
const (
	failedClassReviews  = `placement_hub_affinityclass_reviews_total{path="/validate-pod-affinityclass",verdict="error"}`
	failedPolicyReviews = `kupid_aggr_requests_total{type="error"}`
)

// gather scrapes the hub, which runs in this process.
func gather() scrapes.Scrape {
	GinkgoHelper()
	found, err := scrapes.Gather(metrics.Registry)
	Expect(err).NotTo(HaveOccurred())
	return found
}

// invalidPolicy creates a policy for Pods with a label that is older than the webhook that would refuse it, and returns it.
func invalidPolicy(ctx context.Context, namespace string, labels map[string]string) client.Object {
	GinkgoHelper()
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management-placement-hub-podscheduling"},
	}
	Expect(suite.Client.Delete(ctx, config)).To(Succeed())

	policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "invalid"}}
	policy.Spec.PodSelector = &metav1.LabelSelector{MatchLabels: labels}
	policy.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpEqual, Value: "a"}}
	Eventually(func() error { return suite.Client.Create(ctx, policy) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	DeferCleanup(deleteNow, policy)
	Expect(manifests.InstallSystem(ctx, suite.ControlPlane.AdminConfig(), manifests.PodScheduling, "https://"+webhookAddress)).To(Succeed())
	return policy
}

var _ = Describe("Alerts over scrapes of a hub whose reviews fail", func() {
	It("fire while their cause is there", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s", Labels: rendered()}}
		Expect(suite.Client.Create(ctx, secret)).To(Succeed())
		labels := map[string]string{"policy": "invalid"}
		policy := invalidPolicy(ctx, namespace, labels)

		// matched has the API server ask about a Pod that the policy matches, and returns how many reviews have failed.
		matched := func() float64 {
			pod := newPod(namespace, nil)
			pod.Labels = labels
			Expect(client.NewDryRunClient(suite.Client).Create(ctx, pod)).To(Succeed())
			return gather().Value(failedPolicyReviews)
		}
		// fail has a review of each system fail, and scrapes.
		fail := func() scrapes.Scrape {
			GinkgoHelper()
			_, err := tryPod(ctx, newPod(namespace, nil, owner(secret)))
			Expect(err).To(refusedWith(http.StatusInternalServerError, "owner Secret "+namespace+"/s: forbidden"))
			before := gather().Value(failedPolicyReviews)
			Eventually(matched).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", before))
			return gather()
		}

		healthy := gather()
		broken, later := fail(), fail()
		Expect(suite.Client.Delete(ctx, policy)).To(Succeed())
		Eventually(func() bool { return gather().Value(failedPolicyReviews) == matched() }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(BeTrue(), "the hub knows that the policy is gone")
		mended := gather()
		Expect(later.Value(failedClassReviews)).To(Equal(broken.Value(failedClassReviews) + 1))

		course := scrapes.Course{Healthy: healthy, Broken: broken, Later: later, Mended: mended}
		Expect(course.Evaluate(ctx, GinkgoT().TempDir(), map[string]scrapes.Expected{
			"AffinityClassReviewsFail": {Firing: []scrapes.Firing{{
				Labels: map[string]string{"path": "/validate-pod-affinityclass"}, Words: []string{"$labels.path", "/validate-pod-affinityclass"},
			}}},
			"PodSchedulingReviewsFail": {Firing: []scrapes.Firing{{}}},
			"PlacementHubSystemIsOff":  {},
		})).To(Succeed())
	})
})
