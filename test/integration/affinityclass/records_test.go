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

var _ = Describe("What the hub records, docs/spec/affinity-class.md 1.3", func() {
	It("T13: a Tenant that is deleted frees nothing in its namespace; a platform's own namespace is free", func(ctx SpecContext) {
		tenant, namespace := acme(ctx)
		admin := namespaceAdmin(ctx, namespace+"-records")
		recorded := func(g Gomega) {
			read := &corev1.Namespace{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: namespace}, read)).To(Succeed())
			g.Expect(read.Annotations).To(HaveKeyWithValue(affinityclass.AllowedAnnotation, `["dc1","dc2"]`))
		}
		refused := refusedWith(http.StatusUnprocessableEntity,
			`AffinityClass "gpu" is not allowed in tenant namespace "`+namespace+`" (allowed: dc1, dc2)`)

		Eventually(recorded).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Eventually(func() error {
			return client.NewDryRunClient(suite.Client).Create(ctx, newApp("Postgres", namespace, "db", "gpu"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(refused)
		for _, content := range []string{`null`, `"[\"gpu\"]"`} {
			Expect(admin.Patch(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"annotations":{"`+affinityclass.AllowedAnnotation+`":`+content+`}}}`)))).
				To(refusedWith(http.StatusForbidden, affinityclass.AllowedAnnotation, `the verb "exempt" on affinityclasses.cozystack.io`))
		}

		deleteNow(ctx, tenant)
		Consistently(func(g Gomega) {
			g.Expect(client.NewDryRunClient(suite.Client).Create(ctx, newApp("Postgres", namespace, "db", "gpu"))).To(refused)
			recorded(g)
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
		Expect(client.NewDryRunClient(suite.Client).Create(ctx, newApp("Postgres", namespace, "db", "dc1"))).To(Succeed())
		own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-own"}}
		Expect(admin.Create(ctx, own)).To(Succeed())
		DeferCleanup(deleteNow, own)
		Expect(client.NewDryRunClient(suite.Client).Create(ctx, newApp("Postgres", own.Name, "db", "gpu"))).To(Succeed())
	})

	It("T14: a user who may edit HelmReleases cannot forge the class that was resolved", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		user := releaseEditor(ctx, namespace)
		reason := refusedWith(http.StatusForbidden, affinityclass.ResolvedAnnotation, `the verb "resolve" on affinityclasses.cozystack.io`)

		forged := newRelease(namespace, "forged", "")
		forged.SetAnnotations(map[string]string{affinityclass.ResolvedAnnotation: "gpu@0123456789abcdef"})
		Eventually(func() error { return user.Create(ctx, forged.DeepCopy()) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(reason)
		release := newRelease(namespace, "db", "")
		release.SetAnnotations(map[string]string{affinityclass.ResolvedAnnotation: "dc1@0123456789abcdef"})
		Expect(suite.Client.Create(ctx, release)).To(Succeed())
		DeferCleanup(deleteNow, release)

		for _, value := range []string{`null`, `"gpu@0123456789abcdef"`} {
			Expect(user.Patch(ctx, release.DeepCopy(), client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"annotations":{"`+affinityclass.ResolvedAnnotation+`":`+value+`}}}`)))).To(reason)
		}
		Expect(user.Patch(ctx, release.DeepCopy(), client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"annotations":{"other":"b"}}}`)))).To(Succeed())
	})
})

// releaseEditor returns a client of a user who may do everything with the HelmReleases of a namespace.
func releaseEditor(ctx SpecContext, namespace string) client.Client {
	GinkgoHelper()
	user := namespace + "-editor"
	suite.Allow(ctx, namespace, user, rbacv1.PolicyRule{
		APIGroups: []string{"helm.toolkit.fluxcd.io"}, Resources: []string{"helmreleases"}, Verbs: []string{"*"},
	})
	return suite.As(user)
}
