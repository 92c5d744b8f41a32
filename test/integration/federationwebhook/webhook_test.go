// SPDX-License-Identifier: Apache-2.0

package federationwebhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	broken     = `[{"not able to parse",}]`
	parseError = "annotation federation.alpha.kubernetes.io/cluster-selector: invalid character ',' after object key"
	held       = "federation: the object is neither delivered nor withdrawn until this is corrected"
)

var _ = Describe("The webhook, docs/spec/federated-selector.md 3.1.4", func() {
	It("federated-selector F13: warns of a selector that cannot be parsed, and the object is stored", func(ctx SpecContext) {
		serve(ctx)
		f := newFixture(ctx)

		object := newConfigMap(f, "c", map[string]string{federation.SelectorAnnotation: broken})
		warnings, err := warned(func(api client.Client) error { return api.Create(ctx, object) })
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(Equal([]string{parseError, held}))

		By("an update that leaves the annotations is not warned about again; one that breaks them is")
		object.Data["key"] = "other"
		warnings, err = warned(func(api client.Client) error { return api.Update(ctx, object) })
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
		object.Annotations[federation.SelectorAnnotation] = "{}"
		warnings, err = warned(func(api client.Client) error { return api.Update(ctx, object) })
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(ContainElement(HavePrefix("annotation federation.alpha.kubernetes.io/cluster-selector: json: cannot unmarshal object")))

		stored := &corev1.ConfigMap{}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), stored)).To(Succeed())
		Expect(stored.Annotations).To(HaveKeyWithValue(federation.SelectorAnnotation, "{}"))
	})

	It("federated-selector 3.1.6: warns of replica preferences of a Deployment", func(ctx SpecContext) {
		serve(ctx)
		f := newFixture(ctx)
		labels := map[string]string{"app": "web"}
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: f.Namespace, Name: "web", Annotations: map[string]string{federation.DeploymentPreferencesAnnotation: "null"},
			},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
				},
			},
		}

		warnings, err := warned(func(api client.Client) error { return client.NewDryRunClient(api).Create(ctx, deployment) })
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(Equal([]string{
			"annotation federation.kubernetes.io/deployment-preferences: must be a JSON object, not null", held,
		}))
	})

	It("warns of the defaults of a Namespace when they are written, and when it opts in", func(ctx SpecContext) {
		serve(ctx)
		f := suite.NewFixture(ctx, func(namespace *corev1.Namespace) {
			namespace.Annotations = map[string]string{federation.SelectorAnnotation: broken}
		})
		optIn := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+federation.FederatedLabel+`":"true"}}}`))
		warnings, err := warned(func(api client.Client) error {
			return api.Patch(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}, optIn)
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(ContainElement(parseError))
	})

	It("says nothing outside of the namespaces that take part", func(ctx SpecContext) {
		serve(ctx)
		f := suite.NewFixture(ctx)
		warnings, err := warned(func(api client.Client) error {
			return api.Create(ctx, newConfigMap(f, "c", map[string]string{federation.SelectorAnnotation: broken}))
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
	})

	It("objects are stored without a warning while it is down", func(ctx SpecContext) {
		serve(ctx)()
		f := newFixture(ctx)
		object := newConfigMap(f, "c", map[string]string{federation.SelectorAnnotation: broken})
		warnings, err := warned(func(api client.Client) error { return api.Create(ctx, object) })
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), &corev1.ConfigMap{})).To(Succeed())
	})
})
