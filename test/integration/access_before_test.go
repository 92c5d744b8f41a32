package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
)

// withoutPolicies has no policy about bindings and clusters in force while something is done.
func (w *world) withoutPolicies(ctx context.Context, do func()) {
	GinkgoHelper()

	for _, name := range []string{"bindings", "clusters"} {
		Expect(hub.Delete(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management-placement-hub-" + name},
		})).To(Succeed())
	}

	DeferCleanup(func(ctx SpecContext) { Expect(manifests.Install(ctx, controlPlane.AdminConfig())).To(Succeed()) })
	Eventually(func(g Gomega) {
		g.Expect(tryOut(ctx, w.newBinding("a", "b"))).To(Succeed())
		g.Expect(tryOut(ctx, w.newCluster("not.a-namespace", ""))).To(Succeed())
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

	do()

	Expect(manifests.Install(ctx, controlPlane.AdminConfig())).To(Succeed())
	w.accessInForce(ctx)
}

// A policy that judged what does not change would lock people out of objects that are older than it.
var _ = Describe("What is older than the policies", Serial, func() {
	type (
		binding = clusterv1beta2.ManagedClusterSetBinding
		cluster = clusterv1.ManagedCluster
	)

	It("can be labelled, finalized and deleted, and mended", func(ctx SpecContext) {
		w := newWorld(ctx)
		old := w.newBinding("old", "other")
		bare := &binding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bare"}}
		member := w.newCluster("old.cluster", w.name("set"), accepted, reachedAt("http://example.com"))
		w.withoutPolicies(ctx, func() {
			w.create(ctx, old)
			Expect(hub.Patch(ctx, bare.DeepCopy(), client.RawPatch("application/apply-patch+yaml", []byte(
				`{"apiVersion":"`+clusterv1beta2.GroupVersion.String()+`","kind":"ManagedClusterSetBinding","metadata":{"name":"bare"}}`,
			)), client.FieldOwner("old"))).To(Succeed())
			w.create(ctx, member)
		})

		p := w.person("someone")
		w.grant(ctx, p.subject(), mayWrite(bindings), mayWrite(clusters))

		// A typed client cannot write a binding without a set.
		merges := func(b *binding, patch string) error {
			return p.Patch(ctx, b.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll)
		}
		for _, b := range []*binding{old, bare} {
			Eventually(func() error { return merges(b, `{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/hold"]}}`) }).
				WithContext(ctx).WithTimeout(settle).Should(Succeed())
			Expect(merges(b, `{"spec":{"clusterSet":"third"}}`)).To(beInvalid(mustMatch))
			Expect(merges(b, `{"spec":{"clusterSet":"`+b.Name+`"}}`)).To(Succeed())
		}

		Expect(changes(ctx, p, member, func(c *cluster) {
			c.Labels["a"], c.Finalizers = "b", []string{"example.com/hold"}
			c.Spec.ManagedClusterClientConfigs[0].CABundle = []byte("newer")
			c.Spec.Taints = []clusterv1.Taint{{Key: "a", Effect: clusterv1.TaintEffectNoSelect}}
		})).To(Succeed())
		Expect(changes(ctx, p, member, reachedAt("http://other.example.com"))).To(beInvalid(`"http://other.example.com"`))
		Expect(changes(ctx, p, member, reachedAt("https://example.com"))).To(Succeed())

		for _, object := range []client.Object{old, bare, member} {
			Expect(p.Delete(ctx, object)).To(Succeed())
		}
	})
})

var _ = Describe("The policies about bindings and clusters", func() {
	It("name only fields that there are", func(ctx SpecContext) {
		for _, name := range []string{"bindings", "clusters"} {
			policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
			Eventually(func(g Gomega) {
				g.Expect(hub.Get(ctx, client.ObjectKey{Name: "open-cluster-management-placement-hub-" + name}, policy)).To(Succeed())
				g.Expect(policy.Status.ObservedGeneration).To(Equal(policy.Generation))
				g.Expect(policy.Status.TypeChecking).NotTo(BeNil())
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
			Expect(policy.Status.TypeChecking.ExpressionWarnings).To(BeEmpty(), name)
		}
	})
})
