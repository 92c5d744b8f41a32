// SPDX-License-Identifier: Apache-2.0

package access

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
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// withoutPolicies has no policy about bindings and clusters in force while something is done.
func withoutPolicies(ctx context.Context, f *suite.Fixture, do func()) {
	GinkgoHelper()
	for _, name := range []string{"bindings", "clusters"} {
		Expect(suite.Client.Delete(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management-placement-hub-" + name},
		})).To(Succeed())
	}

	DeferCleanup(func(ctx SpecContext) { Expect(manifests.Install(ctx, suite.ControlPlane.AdminConfig())).To(Succeed()) })
	Eventually(func(g Gomega) {
		g.Expect(ask(ctx, newBinding(f, "a", "b"))).To(Succeed())
		g.Expect(ask(ctx, newCluster(f, "not.a-namespace", ""))).To(Succeed())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

	do()

	Expect(manifests.Install(ctx, suite.ControlPlane.AdminConfig())).To(Succeed())
	accessInForce(ctx, f)
}

// A policy that judged what does not change would lock people out of objects that are older than it.
var _ = Describe("What is older than the policies", func() {
	type (
		binding = clusterv1beta2.ManagedClusterSetBinding
		cluster = clusterv1.ManagedCluster
	)

	It("can be labelled, finalized and deleted, and mended", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		old := newBinding(f, "old", "other")
		bare := &binding{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "bare"}}
		member := newCluster(f, "old.cluster", f.Name("set"), accepted, reachedAt("http://example.com"))
		withoutPolicies(ctx, f, func() {
			f.Create(ctx, old)
			Expect(suite.Client.Patch(ctx, bare.DeepCopy(), client.RawPatch("application/apply-patch+yaml", []byte(
				`{"apiVersion":"`+clusterv1beta2.GroupVersion.String()+`","kind":"ManagedClusterSetBinding","metadata":{"name":"bare"}}`,
			)), client.FieldOwner("old"))).To(Succeed())
			f.Create(ctx, member)
		})

		p := certified(f, "someone")
		grantTo(ctx, f, p.subject(), mayWrite(bindings), mayWrite(clusters))

		// A typed client cannot write a binding without a set.
		merges := func(b *binding, patch string) error {
			return p.Patch(ctx, b.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll)
		}
		for _, b := range []*binding{old, bare} {
			Eventually(func() error { return merges(b, `{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/hold"]}}`) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			// Under load, an API server was seen to let one such request through although the policy was in force for another before.
			Eventually(func() error { return merges(b, `{"spec":{"clusterSet":"third"}}`) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(beInvalid(mustMatch))
			Expect(merges(b, `{"spec":{"clusterSet":"`+b.Name+`"}}`)).To(Succeed())
		}

		Expect(changes(ctx, p, member, func(c *cluster) {
			c.Labels["a"], c.Finalizers = "b", []string{"example.com/hold"}
			c.Spec.ManagedClusterClientConfigs[0].CABundle = []byte("newer")
			c.Spec.Taints = []clusterv1.Taint{{Key: "a", Effect: clusterv1.TaintEffectNoSelect}}
		})).To(Succeed())
		// As above, a request may be let through by itself.
		Eventually(func() error {
			tried := &cluster{}
			if err := suite.Client.Get(ctx, client.ObjectKeyFromObject(member), tried); err != nil {
				return err
			}
			reachedAt("http://other.example.com")(tried)
			return client.NewDryRunClient(p).Update(ctx, tried)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(beInvalid(`"http://other.example.com"`))
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
				g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: "open-cluster-management-placement-hub-" + name}, policy)).To(Succeed())
				g.Expect(policy.Status.ObservedGeneration).To(Equal(policy.Generation))
				g.Expect(policy.Status.TypeChecking).NotTo(BeNil())
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			Expect(policy.Status.TypeChecking.ExpressionWarnings).To(BeEmpty(), name)
		}
	})
})
