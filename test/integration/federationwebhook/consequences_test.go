// SPDX-License-Identifier: Apache-2.0

package federationwebhook

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// in returns annotations with a selector of a label.
func in(key, value string) map[string]string {
	return map[string]string{federation.SelectorAnnotation: fmt.Sprintf(`[{"key":%q,"operator":"in","values":[%q]}]`, key, value)}
}

// members creates the clusters eu1, eu2 and us1 in a set that is bound to the namespace of the fixture, with their namespaces.
func members(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	f.Set(ctx, "members")
	for short, location := range map[string]string{"eu1": "europe", "eu2": "europe", "us1": "usa"} {
		f.Cluster(ctx, "members", short, suite.Labeled("location", location))
		f.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}})
	}
}

// deliver applies the ManifestWorks of a ConfigMap to clusters, as the hub does.
func deliver(ctx context.Context, f *suite.Fixture, object *corev1.ConfigMap, shorts ...string) {
	GinkgoHelper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	for _, short := range shorts {
		work, err := federation.NewPayload(federation.DefaultKinds()[0], &unstructured.Unstructured{Object: content}).
			Work(f.Name(short), federation.Variant{})
		Expect(err).NotTo(HaveOccurred())
		work.TypeMeta = metav1.TypeMeta{APIVersion: workv1.GroupVersion.String(), Kind: "ManifestWork"}
		//nolint:staticcheck // The typed form needs generated configurations.
		Expect(suite.Client.Patch(ctx, work, client.Apply, client.FieldOwner(federation.FieldManager), client.ForceOwnership)).To(Succeed())
		DeferCleanup(suite.DropFinalizers, work)
	}
}

// tenant returns a function that calls another with a client of a user with the ClusterRole edit in the namespace of the fixture, and returns
// the warnings.
func tenant(ctx context.Context, f *suite.Fixture) func(func(client.Client) error) []string {
	GinkgoHelper()
	user := f.Name("tenant")
	suite.Bind(ctx, f.Namespace, "edit", user)
	return func(do func(client.Client) error) []string {
		GinkgoHelper()
		warnings := &heard{}
		config := suite.Impersonating(user)
		config.WarningHandler = warnings
		Expect(do(suite.ClientOf(config))).To(Succeed())
		return warnings.texts
	}
}

var _ = Describe("Typing errors, docs/spec/trust.md 7.2", func() {
	It("7.2: a tenant is warned of a key that no cluster in scope has, of withdrawals, and of what is held", func(ctx SpecContext) {
		serve(ctx)
		f := newFixture(ctx)
		members(ctx, f)
		as := tenant(ctx, f)

		unknown := And(ContainSubstring(`key "locaton" is a label of none of the 3 clusters in scope`), ContainSubstring(`did you mean "location"?`))
		object := newConfigMap(f, "c", in("locaton", "europe"))
		create := func(api client.Client) error { return client.NewDryRunClient(api).Create(ctx, object.DeepCopy()) }
		Eventually(func() []string { return as(create) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(unknown))

		By("a correct selector is stored without a warning")
		object = newConfigMap(f, "c", in("location", "europe"))
		Expect(as(func(api client.Client) error { return api.Create(ctx, object) })).To(BeEmpty())
		deliver(ctx, f, object, "eu1", "eu2")

		By("a dry run of another selector names the clusters that lose the object")
		changed := func(annotations map[string]string) func(client.Client) error {
			return func(api client.Client) error {
				after := object.DeepCopy()
				after.Annotations = annotations
				return client.NewDryRunClient(api).Update(ctx, after)
			}
		}
		clusters := f.Name("eu1") + ", " + f.Name("eu2")
		Eventually(func() []string { return as(changed(in("location", "usa"))) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(ConsistOf(ContainSubstring("this change withdraws the object from 2 clusters: " + clusters)))

		By("an annotation that is removed withdraws nothing, because every cluster in scope is selected then")
		Expect(as(changed(nil))).To(BeEmpty())

		By("a typing error is held, and the warning names the annotation that releases the withdrawal")
		Expect(as(changed(in("locaton", "europe")))).To(ConsistOf(unknown,
			ContainSubstring("the new selector matches none of the 3 clusters in scope, so the object stays in 2 clusters: "+clusters),
			ContainSubstring(removalbudget.ReleaseAnnotation+"=")))
	})

	It("federated-selector 3.1.6: a tenant is warned of replicas that no cluster gets, by the preferences and by the number", func(ctx SpecContext) {
		serve(ctx)
		f := newFixture(ctx)
		members(ctx, f)
		as := tenant(ctx, f)

		labels := map[string]string{"app": "web"}
		object := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "web", Annotations: map[string]string{
				federation.DeploymentPreferencesAnnotation: `{"clusters":{"*":{"weight":1,"maxReplicas":0}}}`,
			}},
			Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](9), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
				}},
		}
		unplaced := func(replicas int) OmegaMatcher {
			return ConsistOf(ContainSubstring(fmt.Sprintf("%d of %d replicas have no cluster: maxReplicas of ", replicas, replicas)))
		}
		create := func(api client.Client) error { return client.NewDryRunClient(api).Create(ctx, object.DeepCopy()) }
		Eventually(func() []string { return as(create) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(unplaced(9))

		f.Create(ctx, object)
		Expect(as(func(api client.Client) error {
			scaled := object.DeepCopy()
			scaled.Spec.Replicas = ptr.To[int32](12)
			return client.NewDryRunClient(api).Update(ctx, scaled)
		})).To(unplaced(12))
	})

	It("7.2: a tenant is warned of a Placement that does not exist, and the object is stored", func(ctx SpecContext) {
		serve(ctx)
		f := newFixture(ctx)
		members(ctx, f)
		f.Placement(ctx, "europe", clusterv1beta1.PlacementSpec{})
		as := tenant(ctx, f)

		object := newConfigMap(f, "c", map[string]string{federation.PlacementAnnotation: "eurpoe"})
		Eventually(func() []string {
			return as(func(api client.Client) error { return client.NewDryRunClient(api).Create(ctx, object.DeepCopy()) })
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(
			And(ContainSubstring(`there is no Placement "eurpoe"`), ContainSubstring(`did you mean "europe"?`))))
		Expect(as(func(api client.Client) error { return api.Create(ctx, object) })).To(HaveLen(1))
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), &corev1.ConfigMap{})).To(Succeed())
	})

	It("7.2: who changes the defaults of a namespace is warned of the same", func(ctx SpecContext) {
		serve(ctx)
		f := newFixture(ctx)
		members(ctx, f)

		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
		annotate := func(annotations map[string]string) func(client.Client) error {
			return func(api client.Client) error {
				Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)).To(Succeed())
				namespace.Annotations = annotations
				return client.NewDryRunClient(api).Update(ctx, namespace)
			}
		}

		Eventually(func() ([]string, error) { return warned(annotate(in("location", "asia"))) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(ContainSubstring(
			"the new selector matches none of the 3 clusters in scope")))
		Eventually(func() ([]string, error) { return warned(annotate(in("location", "usa"))) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(ContainSubstring(
			"withdraws each object that follows the namespace from 2 clusters: " + f.Name("eu1") + ", " + f.Name("eu2"))))
	})
})
