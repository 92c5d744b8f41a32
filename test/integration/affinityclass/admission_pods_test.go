// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"context"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// inDC1 is what the class dc1 requires.
var inDC1 = map[string]string{zone: "dc1"}

var _ = Describe("Pods, docs/spec/affinity-class.md 1.4", func() {
	It("affinity-class A9: the pod of a compliant StatefulSet is admitted, and bound in dc1", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		Expect(suite.Client.Create(ctx, newRelease(namespace, "main-db", "dc1"))).To(Succeed())
		Expect(suite.Client.Create(ctx, newStatefulSet(namespace, "db", 2, inDC1))).To(Succeed())

		Eventually(func(g Gomega) {
			pods := &corev1.PodList{}
			g.Expect(suite.Client.List(ctx, pods, client.InNamespace(namespace))).To(Succeed())
			g.Expect(pods.Items).To(HaveLen(2))
			for _, pod := range pods.Items {
				g.Expect(pod.Spec.NodeName).To(Equal("n-dc1"))
			}
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("affinity-class A10: a pod without nodeSelector is denied, with its generated name; its Deployment says why", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		set := mainDB(ctx, namespace, "dc1")
		expectDenied(ctx, newPod(namespace, nil, owner(set)), "dc1", zone+"=dc1")
		one := int32(1)
		forgetful := newStatefulSet(namespace, "main-db", 1, nil)
		Expect(suite.Client.Create(ctx, &appsv1.Deployment{
			ObjectMeta: forgetful.ObjectMeta,
			Spec:       appsv1.DeploymentSpec{Replicas: &one, Selector: forgetful.Spec.Selector, Template: forgetful.Spec.Template},
		})).To(Succeed())

		Eventually(func(g Gomega) {
			deployment := &appsv1.Deployment{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "main-db"}, deployment)).To(Succeed())
			g.Expect(deployment.Status.Conditions).To(ContainElement(HaveField("Message", MatchRegexp(
				`denied the request: pod %s/main-db-[a-z0-9]+-[a-z0-9]{5} belongs to application with AffinityClass "dc1" but missing required `+
					`nodeSelector %s=dc1$`, namespace, zone))))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("affinity-class A11, A12, A13: another value is denied, more keys are admitted, and a nodeAffinity does not count", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		set := mainDB(ctx, namespace, "dc1")
		expectDenied(ctx, newPod(namespace, map[string]string{zone: "dc2"}, owner(set)), "dc1", zone+"=dc1")
		expectAdmitted(ctx, newPod(namespace, map[string]string{zone: "dc1", "disk": "ssd"}, owner(set)))

		pod := newPod(namespace, nil, owner(set))
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: []string{"dc1"}}},
			}}},
		}}
		expectDenied(ctx, pod, "dc1", zone+"=dc1")
	})

	It("affinity-class A14, A16: a class is found 1 ms after its creation, and the first of two keys is named, always", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		set := mainDB(ctx, namespace, "two-keys")
		Expect(suite.Client.Create(ctx, newClass("two-keys", map[string]cozystackv1alpha1.NodeLabelValue{"b": "2", "a": "1"}))).To(Succeed())
		DeferCleanup(removeClass, "two-keys")
		for range 50 {
			expectDenied(ctx, newPod(namespace, nil, owner(set)), "two-keys", "a=1")
		}
		expectAdmitted(ctx, newPod(namespace, map[string]string{"a": "1", "b": "2"}, owner(set)))

		for i := range 20 { // Each class is new to the cache.
			name := fmt.Sprintf("fresh-%d", i)
			Expect(suite.Client.Create(ctx, newRelease(namespace, name, name))).To(Succeed())
			Expect(suite.Client.Create(ctx, newClass(name, map[string]cozystackv1alpha1.NodeLabelValue{zone: "dc1"}))).To(Succeed())
			DeferCleanup(removeClass, name)
			pod := newPod(namespace, inDC1)
			pod.Labels = map[string]string{fluxLabel: name}
			expectAdmitted(ctx, pod)
		}
	})

	It("affinity-class A15: a class that was deleted by force denies", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		Expect(suite.Client.Create(ctx, newClass("forced", map[string]cozystackv1alpha1.NodeLabelValue{zone: "dc1"}))).To(Succeed())
		set := mainDB(ctx, namespace, "forced")
		expectAdmitted(ctx, newPod(namespace, inDC1, owner(set)))
		removeClass(ctx, "forced")
		Eventually(func() string {
			_, err := tryPod(ctx, newPod(namespace, inDC1, owner(set)))
			return fmt.Sprint(err)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveSuffix(`denied the request: AffinityClass "forced" not found`))
	})

	It("affinity-class A17, A18: without a class or without a HelmRelease nothing is checked", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		expectAdmitted(ctx, newPod(namespace, nil, owner(mainDB(ctx, namespace, ""))))
		expectAdmitted(ctx, newPod(namespace, nil))
	})

	It("affinity-class A19: of two HelmReleases the first one counts, with a warning", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		first := mainDB(ctx, namespace, "dc1")
		second := newStatefulSet(namespace, "second", 0, nil)
		second.Labels = map[string]string{fluxLabel: "second"}
		Expect(suite.Client.Create(ctx, second)).To(Succeed())
		Expect(suite.Client.Create(ctx, newRelease(namespace, "second", "dc2"))).To(Succeed())
		warnings, err := tryPod(ctx, newPod(namespace, inDC1, owner(first), owner(second)))
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(ConsistOf("object ancestry ambiguous, using first ancestor found"))
		expectDenied(ctx, newPod(namespace, inDC1, owner(second), owner(first)), "dc2", zone+"=dc2")
	})

	It("affinity-class A20: a circle of owners is admitted as unmanaged", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		a, b := newStatefulSet(namespace, "a", 0, nil), newStatefulSet(namespace, "b", 0, nil)
		a.Labels, b.Labels = nil, nil
		Expect(suite.Client.Create(ctx, a)).To(Succeed())
		b.OwnerReferences = []metav1.OwnerReference{owner(a)}
		Expect(suite.Client.Create(ctx, b)).To(Succeed())
		before := a.DeepCopy()
		a.OwnerReferences = []metav1.OwnerReference{owner(b)}
		Expect(suite.Client.Patch(ctx, a, client.MergeFrom(before))).To(Succeed())
		expectAdmitted(ctx, newPod(namespace, nil, owner(a)))
	})

	It("affinity-class A21: enforcement Warn admits, and the warning has the text", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		soft := newClass("soft", map[string]cozystackv1alpha1.NodeLabelValue{zone: "dc1"})
		soft.Spec.Enforcement = cozystackv1alpha1.EnforcementWarn
		Expect(suite.Client.Create(ctx, soft)).To(Succeed())
		DeferCleanup(removeClass, "soft")
		pod := newPod(namespace, nil, owner(mainDB(ctx, namespace, "soft")))
		warnings, err := tryPod(ctx, pod)
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(ConsistOf(denial(pod, "soft", zone+"=dc1")))
	})

	It("affinity-class A24: the label of a pod that is older than its class can be changed", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		set := mainDB(ctx, namespace, "")
		pod := newPod(namespace, nil, owner(set))
		Expect(suite.Client.Create(ctx, pod)).To(Succeed())

		release := newRelease(namespace, "main-db", "")
		Expect(suite.Client.Patch(ctx, release, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"`+affinityclass.ClassLabel+`":"dc1"}}}`)))).To(Succeed())
		Eventually(func() error {
			_, err := tryPod(ctx, newPod(namespace, nil, owner(set)))
			return err
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(refusedWith(http.StatusForbidden, zone+"=dc1"))
		before := pod.DeepCopy()
		pod.Labels = map[string]string{"a": "b"}
		Expect(suite.Client.Patch(ctx, pod, client.MergeFrom(before))).To(Succeed())
	})

	It("affinity-class 1.4: the hub may neither list nor watch pods, so it caches none", func(ctx SpecContext) {
		for _, verb := range []string{"list", "watch"} {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               suite.HubUser,
				Groups:             []string{"system:serviceaccounts", "system:authenticated"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "pods"},
			}}
			Expect(suite.Client.Create(ctx, review)).To(Succeed())
			Expect(review.Status.Allowed).To(BeFalse(), verb)
		}
	})
})

// removeClass deletes a class that may be in use.
func removeClass(ctx context.Context, name string) {
	GinkgoHelper()
	class := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	deleteNow(ctx, class)
	Eventually(func(g Gomega) { // A controller may add its finalizer in between.
		suite.DropFinalizers(ctx, class)
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(class), class)).To(refusedWith(http.StatusNotFound))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}
