// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/controller"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func applicationSpecs() {
	const resolved = controller.ConditionAffinityClassResolved
	It("affinity-class A1: a class that an application names", func(ctx SpecContext) {
		tenant := acme(ctx)
		application, release := released(ctx, postgres, owned(tenant), "main-db", "dc1", "dc1")
		expectCondition(ctx, application, resolved, "True", "Resolved", `"dc1"`)
		Expect(release.GetLabels()).To(HaveKeyWithValue("platform", "keeps"))
	})

	It("affinity-class A2: the default class of the Tenant", func(ctx SpecContext) {
		tenant := acme(ctx)
		released(ctx, redis, owned(tenant), "cache", "", "dc1")
	})

	It("affinity-class A40: another default moves no application until its spec changes", func(ctx SpecContext) {
		tenant := acme(ctx)
		application, release := released(ctx, redis, owned(tenant), "cache", "", "dc1")
		editTenant(ctx, tenant, "dc2", "dc1", "dc2")
		expectValues(ctx, owned(tenant), settings("dc2", "dc1", "dc2"))
		unchangedRelease(ctx, release)

		stopSystem()
		stopSystem = runSystem(ctx, suite.HubConfig(ctx, suite.ControlPlane))
		released(ctx, redis, owned(tenant), "later", "", "dc2")
		unchangedRelease(ctx, release)

		eventually(ctx, func(g Gomega) {
			g.Expect(suite.Client.Patch(ctx, application, mergeSpec(`{"spec":{"replicas":2}}`))).To(Succeed())
		})
		expectClass(ctx, release, "dc2")
	})

	It("affinity-class 1.3: without a class and a default an application loses label and _scheduling", func(ctx SpecContext) {
		tenant := createTenant(ctx, affinityclass.RootNamespace, unique("acme"), "", "dc1")
		application, release := released(ctx, postgres, owned(tenant), "main-db", "dc1", "dc1")
		mergePatch(ctx, application, `{"spec":{"affinityClass":null}}`)
		expectClass(ctx, release, "")
		expectCondition(ctx, application, resolved, "True", "Resolved", "no AffinityClass")
	})

	It("affinity-class A30: an edited HelmRelease is put back, and nothing else of it changes", func(ctx SpecContext) {
		tenant := acme(ctx)
		_, release := released(ctx, postgres, owned(tenant), "main-db", "dc1", "dc1")
		for reason, patch := range map[string]string{
			"another class":          `{"metadata":{"labels":{"` + affinityclass.ClassLabel + `":"dc2"}}}`,
			"no class":               `{"metadata":{"labels":{"` + affinityclass.ClassLabel + `":null}}}`,
			"another selector":       `{"spec":{"values":{"_scheduling":{"nodeSelector":{"` + zone + `":"dc2"}}}}}`,
			"another key":            `{"spec":{"values":{"_scheduling":{"nodeSelector":{"disk":"ssd"}}}}}`,
			"another value":          `{"spec":{"values":{"_scheduling":{"tolerations":[{"operator":"Exists"}]}}}}`,
			"a text for _scheduling": `{"spec":{"values":{"_scheduling":"none"}}}`,
			"no _scheduling":         `{"spec":{"values":{"_scheduling":null}}}`,
			"no record":              `{"metadata":{"annotations":{"` + affinityclass.ResolvedAnnotation + `":null}}}`,
			"a malformed record":     `{"metadata":{"annotations":{"` + affinityclass.ResolvedAnnotation + `":"dc2@?"}}}`,
			"all at once": `{"metadata":{"labels":{"` + affinityclass.ClassLabel + `":"gpu"}},` +
				`"spec":{"values":{"_scheduling":{"a":"b"}}}}`,
		} {
			By(reason)
			mergePatch(ctx, release, patch)
			expectClass(ctx, release, "dc1")
			Expect(release.GetLabels()).To(HaveKeyWithValue("platform", "keeps"))
			Expect(release.Object["spec"]).To(And(HaveKeyWithValue("interval", "1m"), HaveKeyWithValue("values", And(
				HaveLen(3), HaveKeyWithValue("replicas", int64(1)), HaveKeyWithValue("nested", map[string]any{"kept": "yes"}),
			))))
		}
	})

	It("affinity-class A29: outside of Tenants only a class that is named counts", func(ctx SpecContext) {
		namespace := unique("apps")
		createNamespace(ctx, namespace, nil)
		released(ctx, postgres, namespace, "main-db", "dc1", "dc1")
		expectVerified(ctx, namespace, true)
		released(ctx, postgres, namespace, "other", "", "")
	})

	It("affinity-class 1.3: the controller refuses as admission does, and tries again when the Tenant changes", func(ctx SpecContext) {
		tenant := acme(ctx)
		application := newApplication(postgres, owned(tenant), "main-db", "dc1")
		create(ctx, application)
		expectCondition(ctx, application, resolved, "False", affinityclass.ReasonReleaseNotFound, "create one")

		editTenant(ctx, tenant, "dc2", "dc2")
		expectValues(ctx, owned(tenant), settings("dc2", "dc2"))
		release := newRelease("main-db", application)
		create(ctx, release)
		refusal := `AffinityClass "dc1" is not allowed in tenant namespace "` + owned(tenant) + `" (allowed: dc2)`
		expectCondition(ctx, application, resolved, "False", "Refused", refusal)
		expectWarning(ctx, application, "Refused", refusal)
		unchangedRelease(ctx, release)

		editTenant(ctx, tenant, "dc2", "dc1", "dc2")
		expectClass(ctx, release, "dc1")
		expectCondition(ctx, application, resolved, "True", "Resolved")
	})

	It("affinity-class 1.1: kinds of applications come and go", func(ctx SpecContext) {
		plural := unique("mongos")
		definition := newDefinition(plural, "Mongo"+plural)
		Expect(suite.Client.Create(ctx, definition)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, definition))).To(Succeed())
		})
		namespace := unique("apps")
		createNamespace(ctx, namespace, nil)
		released(ctx, definition.Spec.Names.Kind, namespace, "db", "dc1", "dc1")

		By("the definition goes, and the applications with it")
		release := newRelease("mongo", newApplication(definition.Spec.Names.Kind, namespace, "db", ""))
		release.SetName("mongo" + plural + "-db")
		Expect(suite.Client.Delete(ctx, definition)).To(Succeed())
		Expect(suite.Client.Delete(ctx, release)).To(Succeed())
		expectVerified(ctx, namespace, false)

		By("it comes again")
		suite.ExpectGone(ctx, definition)
		Expect(suite.Client.Create(ctx, newDefinition(plural, "Mongo"+plural))).To(Succeed())
		released(ctx, definition.Spec.Names.Kind, namespace, "db", "dc2", "dc2")
	})
}

// newDefinition returns the CustomResourceDefinition of an application kind without a status subresource.
func newDefinition(plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	unknown := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".apps.cozystack.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "apps.cozystack.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, Singular: plural + "x"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &unknown,
				}},
			}},
		},
	}
}

// readRelease reads a HelmRelease; nil if it does not exist.
func readRelease(ctx SpecContext, g Gomega, namespace, name string) *unstructured.Unstructured {
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	err := suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, release)
	g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	if err != nil {
		return nil
	}
	return release
}
