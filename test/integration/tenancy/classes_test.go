// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func classSpecs() {
	blockedBy := func(ctx SpecContext, class *cozystackv1alpha1.AffinityClass, applications, tenants int32, users ...string) {
		GinkgoHelper()
		eventually(ctx, func(g Gomega) {
			read := &cozystackv1alpha1.AffinityClass{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(class), read)).To(Succeed())
			g.Expect(read.Status.Applications).To(Equal(applications))
			g.Expect(read.Status.Tenants).To(Equal(tenants))
			condition := meta.FindStatusCondition(read.Status.Conditions, cozystackv1alpha1.ConditionDeletionBlocked)
			g.Expect(condition).NotTo(BeNil())
			g.Expect(condition.Reason).To(Equal(cozystackv1alpha1.ReasonInUse))
			for _, user := range users {
				g.Expect(condition.Message).To(ContainSubstring(user))
			}
		})
	}

	It("affinity-class A28: a class that an application uses and a Tenant names is deleted when nobody does", func(ctx SpecContext) {
		class := createClass(ctx, unique("dc-used"), zone)
		tenant := createTenant(ctx, affinityclass.RootNamespace, unique("acme"), class.Name, class.Name)
		application, release := released(ctx, postgres, owned(tenant), "main-db", class.Name, class.Name)

		By("counting the users")
		eventually(ctx, func(g Gomega) {
			read := &cozystackv1alpha1.AffinityClass{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(class), read)).To(Succeed())
			g.Expect(read.Status.Applications).To(Equal(int32(1)))
			g.Expect(read.Status.Tenants).To(Equal(int32(1)))
			g.Expect(read.Status.Conditions).To(BeEmpty())
		})

		By("deleting it while both are there")
		Expect(suite.Client.Delete(ctx, class)).To(Succeed())
		blockedBy(ctx, class, 1, 1, "Postgres "+owned(tenant)+"/main-db", "Tenant tenant-root/"+tenant.Name)

		By("deleting the application; its HelmRelease still has the label")
		Expect(suite.Client.Delete(ctx, application)).To(Succeed())
		blockedBy(ctx, class, 1, 1, "Postgres "+owned(tenant)+"/main-db")

		By("deleting the HelmRelease; only the Tenant names it")
		Expect(suite.Client.Delete(ctx, release)).To(Succeed())
		blockedBy(ctx, class, 0, 1, "Tenant tenant-root/"+tenant.Name)

		editTenant(ctx, tenant, "")
		suite.ExpectGone(ctx, class)
	})

	It("affinity-class 1.1: a class that nobody uses is deleted at once", func(ctx SpecContext) {
		class := createClass(ctx, unique("dc-free"), zone)
		Expect(suite.Client.Delete(ctx, class)).To(Succeed())
		suite.ExpectGone(ctx, class)
	})
}
