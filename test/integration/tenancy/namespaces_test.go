// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func createNamespace(ctx context.Context, name string, labels map[string]string) *corev1.Namespace {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	create(ctx, namespace)
	return namespace
}

func namespaceSpecs() {
	It("affinity-class 1.5: a namespace is verified while a Tenant, an application or a class needs it", func(ctx SpecContext) {
		tenant := acme(ctx)
		expectVerified(ctx, owned(tenant), true)
		namespace := createNamespace(ctx, unique("apps"), nil)
		application, release := released(ctx, postgres, namespace.Name, "main-db", "dc1", "dc1")
		expectVerified(ctx, namespace.Name, true)

		By("the application goes, and its HelmRelease has a class still")
		Expect(suite.Client.Delete(ctx, application)).To(Succeed())
		suite.ExpectGone(ctx, application)
		verifiedStays(ctx, namespace.Name)

		Expect(suite.Client.Delete(ctx, release)).To(Succeed())
		expectVerified(ctx, namespace.Name, false)

		By("somebody removes or changes the label of the Tenant's namespace")
		labelNamespace(ctx, owned(tenant), affinityclass.VerifyLabel, `null`)
		expectVerified(ctx, owned(tenant), true)
		labelNamespace(ctx, owned(tenant), affinityclass.VerifyLabel, `"no"`)
		expectVerified(ctx, owned(tenant), true)
	})

	It("affinity-class 1.5: a system namespace is not verified; a Tenant's is, whatever label it has", func(ctx SpecContext) {
		namespace := createNamespace(ctx, unique("apps"), map[string]string{affinityclass.SystemLabel: "true"})
		_, release := released(ctx, postgres, namespace.Name, "main-db", "", "")
		expectVerified(ctx, namespace.Name, false)
		mergePatch(ctx, namespace, `{"metadata":{"labels":{"`+affinityclass.SystemLabel+`":null}}}`)
		expectVerified(ctx, namespace.Name, true)
		expectClass(ctx, release, "")
		tenant := acme(ctx)
		labelNamespace(ctx, owned(tenant), affinityclass.SystemLabel, `"true"`)
		verifiedStays(ctx, owned(tenant))
	})
}

// verifiedStays demands that a namespace keeps the label.
func verifiedStays(ctx context.Context, name string) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		namespace := &corev1.Namespace{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: name}, namespace)).To(Succeed())
		g.Expect(namespace.Labels).To(HaveKeyWithValue(affinityclass.VerifyLabel, "true"))
	}).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
}

// labelNamespace sets a label of a namespace to a JSON value.
func labelNamespace(ctx context.Context, name, label, value string) {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	mergePatch(ctx, namespace, `{"metadata":{"labels":{"`+label+`":`+value+`}}}`)
}
