// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// settings returns what the Secret of a Tenant has below _namespace; a nil list is no key.
func settings(class string, allowed ...any) map[string]any {
	expected := map[string]any{}
	if class != "" {
		expected["defaultAffinityClass"] = class
	}
	if allowed != nil {
		expected["allowedAffinityClasses"] = allowed
	}
	return expected
}

func tenantSpecs() {
	It("affinity-class A6: a child without fields has the settings of its parent, and follows them", func(ctx SpecContext) {
		parent := acme(ctx)
		child := createTenant(ctx, owned(parent), "eu", "")
		expectValues(ctx, owned(child), settings("dc1", "dc1", "dc2"))
		expectCondition(ctx, child, appsv1alpha1.ConditionValuesWritten, "True", "Written")
		expectCondition(ctx, child, appsv1alpha1.ConditionAffinityClassesCompliant, "True", affinityclass.ReasonCompliant)
		grandchild := createTenant(ctx, owned(child), "west", "")
		editTenant(ctx, parent, "dc2", "dc2")
		for _, tenant := range []*appsv1alpha1.Tenant{parent, child, grandchild} {
			expectValues(ctx, owned(tenant), settings("dc2", "dc2"))
		}
	})

	It("affinity-class A7: a child that does not allow the default of its parent has none", func(ctx SpecContext) {
		parent := acme(ctx)
		child := createTenant(ctx, owned(parent), "eu", "", "dc2")
		expectValues(ctx, owned(child), settings("", "dc2"))
	})

	It("affinity-class A36: a child whose list the parent allows no more allows nothing", func(ctx SpecContext) {
		parent := acme(ctx)
		child := createTenant(ctx, owned(parent), "eu", "", "dc1")
		expectValues(ctx, owned(child), settings("dc1", "dc1"))
		editTenant(ctx, parent, "dc2", "dc2")
		expectValues(ctx, owned(child), map[string]any{"allowedAffinityClasses": []any{}})
		expectCondition(ctx, child, appsv1alpha1.ConditionAffinityClassesCompliant, "False",
			affinityclass.ReasonListOutsideParent, parent.Name, "dc1")
		Expect(suite.Client.Create(ctx, newApplication(postgres, owned(child), "main-db", "dc1"))).To(MatchError(ContainSubstring("(allowed: none)")))
	})

	It("affinity-class A38: an existing Secret keeps all other keys, and is left alone when it does not parse", func(ctx SpecContext) {
		name := unique("acme")
		namespace := affinityclass.WorkloadNamespace(affinityclass.RootNamespace, name)
		create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: affinityclass.ValuesSecret},
			Data: map[string][]byte{
				"other":                 []byte("kept"),
				affinityclass.ValuesKey: []byte("_cluster:\n  domain: example.org # a comment\n_namespace:\n  etcd: tenant-root\n"),
			},
		}
		create(ctx, secret)

		tenant := createTenant(ctx, affinityclass.RootNamespace, name, "dc1", "dc1")
		expected := map[string]any{"etcd": "tenant-root", "defaultAffinityClass": "dc1", "allowedAffinityClasses": []any{"dc1"}}
		expectValues(ctx, namespace, expected)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		Expect(secret.Data).To(HaveKeyWithValue("other", []byte("kept")))
		Expect(string(secret.Data[affinityclass.ValuesKey])).To(ContainSubstring("_cluster:\n  domain: example.org # a comment\n"))

		By("editing the two keys")
		suite.Edit(ctx, secret, func(s *corev1.Secret) {
			s.Data[affinityclass.ValuesKey] = []byte("_namespace: {defaultAffinityClass: gpu, allowedAffinityClasses: [gpu], etcd: mine}\n")
		})
		expectValues(ctx, namespace, map[string]any{"etcd": "mine", "defaultAffinityClass": "dc1", "allowedAffinityClasses": []any{"dc1"}})
		_, release := released(ctx, redis, namespace, "cache", "", "dc1")
		hasClass(Default, release, "dc1")

		By("writing content that does not parse")
		suite.Edit(ctx, secret, func(s *corev1.Secret) { s.Data[affinityclass.ValuesKey] = []byte("a: [b") })
		expectCondition(ctx, tenant, appsv1alpha1.ConditionValuesWritten, "False", affinityclass.ReasonUnparsableValues, namespace)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		Expect(string(secret.Data[affinityclass.ValuesKey])).To(Equal("a: [b"))

		By("deleting the Secret")
		Expect(suite.Client.Delete(ctx, secret)).To(Succeed())
		expectValues(ctx, namespace, settings("dc1", "dc1"))
		expectCondition(ctx, tenant, appsv1alpha1.ConditionValuesWritten, "True", "Written")
	})

	It("affinity-class A41: what the Tenant root allows restricts all others", func(ctx SpecContext) {
		beta := createTenant(ctx, affinityclass.RootNamespace, unique("beta"), "")
		expectValues(ctx, owned(beta), map[string]any{})
		root := createTenant(ctx, affinityclass.RootNamespace, affinityclass.RootTenant, "", "dc1")
		DeferCleanup(func(ctx SpecContext) {
			Expect(suite.Client.Delete(ctx, root)).To(Succeed())
			expectValues(ctx, owned(beta), map[string]any{})
		})
		expectValues(ctx, affinityclass.RootNamespace, settings("", "dc1"))
		expectValues(ctx, owned(beta), settings("", "dc1"))
	})

	It("affinity-class A26: a tightened list breaks no application, and says so", func(ctx SpecContext) {
		tenant := acme(ctx)
		application, release := released(ctx, postgres, owned(tenant), "main-db", "dc1", "dc1")
		editTenant(ctx, tenant, "dc2", "dc2")
		expectCondition(ctx, tenant, appsv1alpha1.ConditionAffinityClassesCompliant, "False", affinityclass.ReasonApplicationsOutside,
			"Postgres/main-db (dc1)", "allowed: dc2")
		mergePatch(ctx, application, `{"metadata":{"labels":{"edited":"yes"}}}`)
		unchangedRelease(ctx, release)
		Expect(suite.Client.Patch(ctx, application, mergeSpec(`{"spec":{"replicas":2}}`))).To(MatchError(ContainSubstring("(allowed: dc2)")))
	})

	It("affinity-class 1.1: a status that is not the hub's last word is put right", func(ctx SpecContext) {
		class := createClass(ctx, unique("dc-counted"), zone)
		tenant := createTenant(ctx, affinityclass.RootNamespace, unique("acme"), "", class.Name)
		counted := func() {
			GinkgoHelper()
			eventually(ctx, func(g Gomega) {
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(class), class)).To(Succeed())
				g.Expect(class.Status.Tenants).To(Equal(int32(1)))
			})
		}

		counted()
		expectCondition(ctx, tenant, appsv1alpha1.ConditionAffinityClassesCompliant, "True", affinityclass.ReasonCompliant)
		edit := client.RawPatch(types.MergePatchType, []byte(`{"status":{"tenants":7,"conditions":null}}`))
		Expect(suite.Client.Status().Patch(ctx, class, edit)).To(Succeed())
		Expect(suite.Client.Status().Patch(ctx, tenant, edit)).To(Succeed())
		counted()
		expectCondition(ctx, tenant, appsv1alpha1.ConditionAffinityClassesCompliant, "True", affinityclass.ReasonCompliant)
	})

	It("affinity-class 1.1: namespace and Secret of a Tenant stay when it is deleted, and come back when they are", func(ctx SpecContext) {
		tenant := acme(ctx)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: owned(tenant)}}
		Expect(suite.Client.Delete(ctx, namespace)).To(Succeed())
		eventually(ctx, func(g Gomega) {
			again := &corev1.Namespace{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(namespace), again)).To(Succeed())
			g.Expect(again.DeletionTimestamp).To(BeNil())
			g.Expect(again.Labels).To(HaveKeyWithValue(affinityclass.VerifyLabel, "true"))
		})
		expectValues(ctx, owned(tenant), settings("dc1", "dc1", "dc2"))

		Expect(suite.Client.Delete(ctx, tenant)).To(Succeed())
		suite.ExpectGone(ctx, tenant)
		expectVerified(ctx, owned(tenant), false)
		expectValues(ctx, owned(tenant), settings("dc1", "dc1", "dc2"))
	})
}

// unchangedRelease demands that a HelmRelease stays as it is.
func unchangedRelease(ctx SpecContext, release *unstructured.Unstructured) {
	GinkgoHelper()
	before := &unstructured.Unstructured{}
	before.SetGroupVersionKind(affinityclass.ReleaseKind)
	Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(release), before)).To(Succeed())
	Consistently(func(g Gomega) {
		now := &unstructured.Unstructured{}
		now.SetGroupVersionKind(affinityclass.ReleaseKind)
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(release), now)).To(Succeed())
		g.Expect(now).To(Equal(before))
	}).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
}
