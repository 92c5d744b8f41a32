// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/controller"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// withChart sets the annotation of the chart on the definition of a kind until the spec ends.
func withChart(ctx SpecContext, definition, chart string) {
	GinkgoHelper()
	object := &apiextensionsv1.CustomResourceDefinition{}
	object.Name = definition
	mergePatch(ctx, object, `{"metadata":{"annotations":{"`+affinityclass.ChartAnnotation+`":"`+chart+`"}}}`)
	DeferCleanup(func(ctx SpecContext) {
		mergePatch(ctx, object, `{"metadata":{"annotations":{"`+affinityclass.ChartAnnotation+`":null}}}`)
	})
}

func releaseSpecs() {
	const resolved = controller.ConditionAffinityClassResolved
	It("affinity-class A39: without a HelmRelease and an annotation nothing is written; with two of them neither", func(ctx SpecContext) {
		tenant := acme(ctx)
		application := newApplication(postgres, owned(tenant), "main-db", "dc1")
		create(ctx, application)
		expectCondition(ctx, application, resolved, "False", affinityclass.ReasonReleaseNotFound, affinityclass.ChartAnnotation)
		expectWarning(ctx, application, affinityclass.ReasonReleaseNotFound, "create one")
		Expect(readRelease(ctx, Default, owned(tenant), "postgres-main-db")).To(BeNil())

		first, second := newRelease("first", application), newRelease("second", application)
		create(ctx, first)
		expectClass(ctx, first, "dc1")
		create(ctx, second)
		expectCondition(ctx, application, resolved, "False", affinityclass.ReasonReleaseAmbiguous, "first, second")
		unchangedRelease(ctx, second)

		Expect(suite.Client.Delete(ctx, first)).To(Succeed())
		expectClass(ctx, second, "dc1")
	})

	It("affinity-class A39: with the annotation the hub creates the HelmRelease, and keeps its values in step", func(ctx SpecContext) {
		withChart(ctx, "postgreses.apps.cozystack.io", `{\"kind\":\"OCIRepository\",\"name\":\"postgres\",\"namespace\":\"cozy\"}`)
		tenant := acme(ctx)
		application := newApplication(postgres, owned(tenant), "main-db", "dc1")
		Expect(unstructured.SetNestedField(application.Object, map[string]any{"a": "1", "b": []any{int64(1)}}, "spec", "nested")).To(Succeed())
		create(ctx, application)

		release := newRelease("postgres-main-db", application)
		expectClass(ctx, release, "dc1")
		Expect(release.Object["spec"]).To(Equal(map[string]any{
			"chartRef": map[string]any{"kind": "OCIRepository", "name": "postgres", "namespace": "cozy"}, "interval": "5m",
			"valuesFrom": []any{map[string]any{"kind": "Secret", "name": affinityclass.ValuesSecret}},
			"values": map[string]any{
				"replicas": int64(1), "nested": map[string]any{"a": "1", "b": []any{int64(1)}},
				"_scheduling": map[string]any{"affinityClass": "dc1", "nodeSelector": map[string]any{zone: "dc1"}},
			},
		}))
		Expect(release.GetOwnerReferences()).To(HaveLen(1))
		Expect(release.GetOwnerReferences()[0].UID).To(Equal(application.GetUID()))

		By("the spec changes")
		mergePatch(ctx, application, `{"spec":{"affinityClass":"dc2","replicas":3,"nested":{"a":null},"new":true}}`)
		eventually(ctx, func(g Gomega) {
			now := readRelease(ctx, g, owned(tenant), "postgres-main-db")
			g.Expect(now).NotTo(BeNil())
			hasClass(g, now, "dc2")
			values, _, err := unstructured.NestedMap(now.Object, "spec", "values")
			g.Expect(err).NotTo(HaveOccurred())
			delete(values, "_scheduling")
			g.Expect(values).To(Equal(map[string]any{"replicas": int64(3), "nested": map[string]any{"b": []any{int64(1)}}, "new": true}))
		})

		By("somebody edits the values")
		mergePatch(ctx, release, `{"spec":{"interval":"1m","values":{"replicas":9,"extra":"x"}}}`)
		eventually(ctx, func(g Gomega) {
			now := readRelease(ctx, g, owned(tenant), "postgres-main-db")
			g.Expect(now.Object["spec"]).To(And(HaveKeyWithValue("interval", "1m"), HaveKeyWithValue("values", And(
				HaveKeyWithValue("replicas", int64(3)), Not(HaveKey("extra")),
			))))
		})

		By("somebody deletes it")
		Expect(suite.Client.Delete(ctx, release)).To(Succeed())
		expectClass(ctx, release, "dc2")

		By("the application is deleted")
		Expect(suite.Client.Delete(ctx, application)).To(Succeed())
		suite.ExpectGoneWithin(ctx, suite.CollectTimeout, release)
	})

	It("affinity-class A39: a HelmRelease of the name that the hub would give stays as it is", func(ctx SpecContext) {
		withChart(ctx, "redises.apps.cozystack.io", `{\"kind\":\"OCIRepository\",\"name\":\"redis\"}`)
		tenant := acme(ctx)
		application := newApplication(redis, owned(tenant), "cache", "dc1")
		taken := newRelease("redis-cache", application)
		taken.SetLabels(map[string]string{"of": "somebody"})
		create(ctx, taken)
		create(ctx, application)
		expectWarning(ctx, application, affinityclass.ReasonReleaseNotFound, "HelmRelease redis-cache exists without the labels")
		unchangedRelease(ctx, taken)

		Expect(suite.Client.Delete(ctx, taken)).To(Succeed())
		expectClass(ctx, newRelease("redis-cache", application), "dc1")
	})

	It("affinity-class 1.1: fields that another manager applied too are removed", func(ctx SpecContext) {
		tenant := acme(ctx)
		application := newApplication(postgres, owned(tenant), "main-db", "dc1")
		create(ctx, application)
		release := newRelease("main-db", application)
		Expect(unstructured.SetNestedMap(release.Object, map[string]any{
			"affinityClass": "dc1", "nodeSelector": map[string]any{zone: "dc1", "disk": "ssd"},
		}, "spec", "values", "_scheduling")).To(Succeed())
		Expect(suite.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(release), client.FieldOwner("platform"))).To(Succeed())
		expectClass(ctx, release, "dc1")
	})
}
