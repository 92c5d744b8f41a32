// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"errors"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Reviews of Tenants and applications, docs/spec/affinity-class.md 1.1 to 1.3", func() {
	It("affinity-class A3, A4, A25: classes that are not allowed or do not exist, and reserved keys, are refused", func(ctx SpecContext) {
		_, namespace := acme(ctx)

		err := suite.Client.Create(ctx, newApp("Postgres", namespace, "main-db", "gpu"))
		Expect(err).To(refusedWith(http.StatusUnprocessableEntity, "spec.affinityClass",
			`AffinityClass "gpu" is not allowed in tenant namespace "`+namespace+`" (allowed: dc1, dc2)`))
		Expect(fieldsOf(err)).To(ConsistOf("spec.affinityClass"))

		Expect(suite.Client.Create(ctx, newApp("Redis", namespace, "cache", "nosuch"))).
			To(refusedWith(http.StatusUnprocessableEntity, "spec.affinityClass", `AffinityClass "nosuch" not found`))
		forged := newApp("Postgres", namespace, "main-db", "dc1")
		setSpec(forged, "_scheduling", map[string]any{"affinityClass": "gpu"})
		err = suite.Client.Create(ctx, forged)
		Expect(err).To(refusedWith(http.StatusUnprocessableEntity, `values key "_scheduling" is reserved (keys starting with '_' are not allowed)`))
		Expect(fieldsOf(err)).To(ConsistOf("spec[_scheduling]"))

		Expect(suite.Client.Create(ctx, newApp("Postgres", namespace, "main-db", "dc2"))).To(Succeed())
		Expect(suite.Client.Create(ctx, newApp("Redis", namespace, "cache", ""))).To(Succeed())
	})

	It("affinity-class A5, A8, A31: Tenants with a default or a list that is not allowed, and names with a dash, are refused", func(ctx SpecContext) {
		parent, namespace := acme(ctx)

		err := suite.Client.Create(ctx, newTenant(affinityclass.RootNamespace, "beta", "gpu", "dc1"))
		Expect(err).To(refusedWith(http.StatusUnprocessableEntity, "spec.defaultAffinityClass", "(allowed: dc1)"))
		Expect(fieldsOf(err)).To(ConsistOf("spec.defaultAffinityClass"))

		// At once: the cache may not have the parent yet.
		err = suite.Client.Create(ctx, newTenant(namespace, "eu", "", "dc1", "gpu"))
		Expect(err).To(refusedWith(http.StatusUnprocessableEntity, `AffinityClass "gpu" is not allowed in the parent tenant "`+parent.Name+`"`))
		Expect(fieldsOf(err)).To(ConsistOf("spec.allowedAffinityClasses[1]"))
		err = suite.Client.Create(ctx, newTenant(affinityclass.RootNamespace, parent.Name+"-eu", ""))
		Expect(err).To(refusedWith(http.StatusUnprocessableEntity, "a dash"))
		Expect(fieldsOf(err)).To(ConsistOf("metadata.name"))

		Expect(suite.Client.Create(ctx, newTenant(namespace, "eu", "", "dc1"))).To(Succeed())
	})

	It("affinity-class A22, A23: empty classes, wrong labels, long names and changed classes are refused", func(ctx SpecContext) {
		type labels = map[string]cozystackv1alpha1.NodeLabelValue
		for _, wrong := range []*cozystackv1alpha1.AffinityClass{
			newClass("empty", labels{}), newClass("bad", labels{zone: "bad value!"}), newClass(strings.Repeat("a", 64), labels{zone: "dc1"}),
		} {
			Expect(suite.Client.Create(ctx, wrong)).To(refusedWith(http.StatusUnprocessableEntity))
		}
		class := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: "dc1"}}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"nodeSelector":{"`+zone+`":"dc3"}}}`))
		Expect(suite.Client.Patch(ctx, class, patch)).To(refusedWith(http.StatusUnprocessableEntity, "is immutable"))
	})

	It("affinity-class A37: a class that is being deleted is refused, unless the application has it already", func(ctx SpecContext) {
		class := newClass("leaving", map[string]cozystackv1alpha1.NodeLabelValue{zone: "dc1"})
		Expect(suite.Client.Create(ctx, class)).To(Succeed())
		DeferCleanup(removeClass, class.Name)
		tenant, namespace := acme(ctx)
		suite.Edit(ctx, tenant, func(t *appsv1alpha1.Tenant) {
			t.Spec.AllowedAffinityClasses, t.Spec.DefaultAffinityClass = []string{"leaving"}, "leaving"
		})

		mainDB := newApp("Postgres", namespace, "main-db", "leaving")
		Eventually(func() error { return client.IgnoreAlreadyExists(suite.Client.Create(ctx, mainDB.DeepCopy())) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), "the cache follows the Tenant")
		Expect(suite.Client.Delete(ctx, class)).To(Succeed())
		for _, chosen := range []string{"leaving", ""} {
			Eventually(func() error {
				return client.NewDryRunClient(suite.Client).Create(ctx, newApp("Postgres", namespace, "other", chosen))
			}).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(refusedWith(http.StatusUnprocessableEntity, `AffinityClass "leaving" is being deleted`))
		}

		scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
		Expect(suite.Client.Patch(ctx, mainDB, scale)).To(Succeed())
	})

	It("affinity-class A42: an explicit class is refused in system namespaces", func(ctx SpecContext) {
		for _, namespace := range []string{manifests.Namespace, "kube-system"} {
			Expect(suite.Client.Create(ctx, newApp("Postgres", namespace, "main-db", "dc1"))).To(refusedWith(http.StatusUnprocessableEntity,
				`AffinityClass is not supported in system namespace "`+namespace+`"`))
			app := newApp("Postgres", namespace, "main-db", "")
			Expect(suite.Client.Create(ctx, app)).To(Succeed())
			Expect(suite.Client.Delete(ctx, app)).To(Succeed())
		}
	})

	It("affinity-class 1.3: an update that leaves the spec as it is, and one of the status, is not checked", func(ctx SpecContext) {
		tenant, namespace := acme(ctx)
		app := newApp("Postgres", namespace, "main-db", "dc1")
		Expect(suite.Client.Create(ctx, app)).To(Succeed())
		suite.Edit(ctx, tenant, func(t *appsv1alpha1.Tenant) {
			t.Spec.AllowedAffinityClasses, t.Spec.DefaultAffinityClass = []string{"dc2"}, "dc2"
		})
		scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
		Eventually(func() error { return client.NewDryRunClient(suite.Client).Patch(ctx, app.DeepCopy(), scale) }).
			WithContext(ctx).WithTimeout(suite.Timeout).
			Should(refusedWith(http.StatusUnprocessableEntity, `AffinityClass "dc1" is not allowed`, "(allowed: dc2)"))

		label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		Expect(suite.Client.Patch(ctx, app, label)).To(Succeed())
		before := app.DeepCopy()
		Expect(unstructured.SetNestedField(app.Object, "ready", "status", "phase")).To(Succeed())
		Expect(suite.Client.Status().Patch(ctx, app, client.MergeFrom(before))).To(Succeed())
	})
})

// fieldsOf returns the fields that a refusal names.
func fieldsOf(err error) []string {
	GinkgoHelper()
	var status apierrors.APIStatus
	Expect(errors.As(err, &status)).To(BeTrue())
	Expect(status.Status().Details).NotTo(BeNil())
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}
