// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("The labels of namespaces, docs/spec/affinity-class.md 1.5", func() {
	const (
		exempt = `{"metadata":{"labels":{"` + affinityclass.SystemLabel + `":"true"}}}`
		remove = `{"metadata":{"labels":{"` + affinityclass.VerifyLabel + `":null}}}`
		change = `{"metadata":{"labels":{"` + affinityclass.VerifyLabel + `":"false"}}}`
		verify = `{"metadata":{"labels":{"` + affinityclass.VerifyLabel + `":"true"}}}`
		other  = `{"metadata":{"labels":{"team":"a"}}}`
	)

	It("affinity-class A32: an admin of the tenant cannot exempt it; a cluster administrator's label has no effect", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		set := mainDB(ctx, namespace, "dc1")
		admin := namespaceAdmin(ctx, namespace+"-admin")

		free := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "free-"}}
		Expect(admin.Create(ctx, free)).To(Succeed())
		DeferCleanup(deleteNow, free)
		patch := func(name, content string, subresources ...string) error {
			object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			merge := client.RawPatch("application/merge-patch+json", []byte(content))
			for _, subresource := range subresources {
				return admin.SubResource(subresource).Patch(ctx, object, merge)
			}
			return admin.Patch(ctx, object, merge)
		}

		Eventually(func() error { return patch(namespace, exempt) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(refusedWith(http.StatusForbidden, `"`+namespace+`-admin"`, "cozystack.io/system",
				`the verb "exempt" on affinityclasses.cozystack.io`))
		const reason = "may not set, change or remove the label cozystack.io/verify-affinity-class"
		for _, content := range []string{remove, change} {
			Expect(patch(namespace, content)).To(refusedWith(http.StatusForbidden, reason))
			Expect(patch(namespace, content, "status")).To(refusedWith(http.StatusForbidden, reason))
		}

		Expect(patch(namespace, exempt, "status")).To(refusedWith(http.StatusForbidden, "cozystack.io/system"))
		Expect(patch(free.Name, verify)).To(refusedWith(http.StatusForbidden, reason))
		Expect(admin.Create(ctx, verifiedNamespace("verified-by-admin"))).To(refusedWith(http.StatusForbidden, reason))

		Expect(patch(namespace, other)).To(Succeed())
		Expect(patch(free.Name, exempt)).To(Succeed(), "its pods are not verified")

		Expect(suite.Client.Patch(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
			client.RawPatch("application/merge-patch+json", []byte(exempt)))).To(Succeed())
		expectDenied(ctx, newPod(namespace, nil, owner(set)), "dc1", zone+"=dc1")
	})
})

// namespaceAdmin returns a client of a user who may do everything with namespaces.
func namespaceAdmin(ctx SpecContext, user string) client.Client {
	GinkgoHelper()
	suite.Allow(ctx, "", user, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"namespaces", "namespaces/status", "namespaces/finalize"}, Verbs: []string{"*"},
	})
	return suite.As(user)
}
