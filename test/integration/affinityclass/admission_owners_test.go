// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"context"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Owners of pods, docs/spec/affinity-class.md 1.4", func() {
	It("affinity-class A33: an owner that the hub may not read refuses the pod until a ClusterRole is aggregated", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		mainDB(ctx, namespace, "dc1")
		cluster := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"})
		cluster.SetNamespace(namespace)
		cluster.SetName("pg")
		cluster.SetLabels(rendered())
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())

		_, err := tryPod(ctx, newPod(namespace, map[string]string{zone: "dc1"}, owner(cluster)))
		Expect(err).To(refusedWith(http.StatusInternalServerError,
			"owner Cluster.postgresql.cnpg.io "+namespace+"/pg: ", `cannot get resource "clusters" in API group "postgresql.cnpg.io"`))

		reader := &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "cnpg-owners", Labels: map[string]string{"cozystack.io/aggregate-to-owner-reader": "true"}},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"postgresql.cnpg.io"}, Resources: []string{"clusters"}, Verbs: []string{"get"},
			}},
		}
		Expect(suite.Client.Create(ctx, reader)).To(Succeed())
		DeferCleanup(deleteNow, reader)

		Eventually(func() error {
			_, err := tryPod(ctx, newPod(namespace, map[string]string{zone: "dc1"}, owner(cluster)))
			return err
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		expectDenied(ctx, newPod(namespace, nil, owner(cluster)), "dc1", zone+"=dc1")
	})

	It("affinity-class A34: an owner that is gone, has another UID or a kind without a definition is skipped", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		set := owner(mainDB(ctx, namespace, "dc1"))
		gone, reborn, unknown := set, set, set
		gone.Name = "gone"
		reborn.UID = "another"
		unknown.APIVersion, unknown.Kind = "nobody.example.com/v1", "Thing"
		for _, skipped := range []metav1.OwnerReference{gone, reborn, unknown} {
			expectAdmitted(ctx, newPod(namespace, nil, skipped))
			expectDenied(ctx, newPod(namespace, nil, skipped, set), "dc1", zone+"=dc1")
		}

		replaced := set
		replaced.APIVersion = "apps/v1beta2"
		expectDenied(ctx, newPod(namespace, nil, replaced), "dc1", zone+"=dc1")
	})

	It("affinity-class A35: eight owners are followed, a ninth and a Secret refuse the pod", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		top := owner(mainDB(ctx, namespace, "dc1"))
		for i := range 7 {
			top = owner(below(ctx, namespace, fmt.Sprintf("owner-%d", i), top))
		}
		expectDenied(ctx, newPod(namespace, nil, top), "dc1", zone+"=dc1")
		expectAdmitted(ctx, newPod(namespace, map[string]string{zone: "dc1"}, top))
		_, err := tryPod(ctx, newPod(namespace, map[string]string{zone: "dc1"}, owner(below(ctx, namespace, "owner-7", top))))
		Expect(err).To(refusedWith(http.StatusInternalServerError, "owner StatefulSet.apps "+namespace+"/db: more than 8 owners"))

		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s", Labels: rendered()}}
		Expect(suite.Client.Create(ctx, secret)).To(Succeed())
		_, err = tryPod(ctx, newPod(namespace, map[string]string{zone: "dc1"}, owner(secret)))
		Expect(err).To(refusedWith(http.StatusInternalServerError, "owner Secret "+namespace+"/s: forbidden"))
	})
})

// below creates a StatefulSet without replicas and without the label of Flux, with an owner.
func below(ctx context.Context, namespace, name string, above metav1.OwnerReference) *appsv1.StatefulSet {
	GinkgoHelper()
	set := newStatefulSet(namespace, name, 0, nil)
	set.Labels, set.OwnerReferences = nil, []metav1.OwnerReference{above}
	Expect(suite.Client.Create(ctx, set)).To(Succeed())
	return set
}
