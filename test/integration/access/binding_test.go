// SPDX-License-Identifier: Apache-2.0

package access

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const bindings = "managedclustersetbindings"

var _ = Describe("Admission of a binding", func() {
	for way, comes := range ways {
		It("41, S4: with "+way+", takes the right to bind the set", func(ctx SpecContext) {
			f := suite.NewFixture(ctx)
			accessInForce(ctx, f)
			alice, set, binding := comes(ctx, f, "alice"), f.Name("set"), newBinding(f, f.Name("set"), f.Name("set"))
			grantTo(ctx, f, alice.subject(), mayWrite(bindings))
			Eventually(func() error { return alice.tries(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(notAllowedToBind(alice, set))
			Expect(alice.tries(ctx, binding.DeepCopy())).To(MatchError(ContainSubstring(`the verb "create" on managedclustersets/bind`)))

			By("the name rule, which comes before the right")
			Expect(alice.tries(ctx, newBinding(f, "other", set))).To(beInvalid(mustMatch))

			By("the right on this set; the set need not exist")
			revoke := grantTo(ctx, f, alice.subject(), mayBind(set))
			Eventually(func() error { return alice.Create(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			Expect(alice.tries(ctx, newBinding(f, "other", set))).To(beInvalid(mustMatch))
			Expect(alice.tries(ctx, newBinding(f, "global", "global"))).To(notAllowedToBind(alice, "global"))

			By("an update, which cannot name a new set and else needs no right to bind")
			revoke()
			Eventually(func() error { return alice.tries(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(notAllowedToBind(alice, set))
			Expect(changes(ctx, alice, binding, func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Spec.ClusterSet = "other" })).
				To(beInvalid(mustMatch))
			Expect(changes(ctx, alice, binding, func(b *clusterv1beta2.ManagedClusterSetBinding) {
				b.Labels, b.Annotations, b.Finalizers = map[string]string{"a": "b"}, map[string]string{"a": "b"}, []string{"example.com/hold"}
			})).To(Succeed())
		})
	}

	It("38: what a user has bound is Bound while the set exists", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		alice, binding := certified(f, "alice"), newBinding(f, f.Name("set"), f.Name("set"))
		grantTo(ctx, f, alice.subject(), mayWrite(bindings), mayBind(binding.Name))
		Eventually(func() error { return alice.Create(ctx, binding) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		bound := func() string {
			Expect(alice.Get(ctx, client.ObjectKeyFromObject(binding), binding)).To(Succeed())
			for _, condition := range binding.Status.Conditions {
				if condition.Type == clusterv1beta2.ClusterSetBindingBoundType {
					return string(condition.Status) + " " + condition.Reason
				}
			}
			return ""
		}
		Eventually(bound).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal("False ClusterSetNotFound"))

		set := f.UnboundSet(ctx, "set")
		Eventually(bound).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal("True ClusterSetBound"))

		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		Eventually(bound).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal("False ClusterSetNotFound"))
	})

	DescribeTable("counts every way to grant the right in the whole hub",
		func(ctx SpecContext, rule rbacv1.PolicyRule, subjectOf func(f *suite.Fixture, p *person) rbacv1.Subject) {
			f := suite.NewFixture(ctx)
			accessInForce(ctx, f)
			alice := certified(f, "alice", f.Name("team"))
			grantTo(ctx, f, alice.subject(), mayWrite(bindings))
			Eventually(func() error { return alice.tries(ctx, newBinding(f, "set1", "set1")) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(notAllowedToBind(alice, "set1"))
			grantTo(ctx, f, subjectOf(f, alice), rule)
			Eventually(func() error { return alice.tries(ctx, newBinding(f, "set1", "set1")) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(Succeed())
		},
		Entry("to a group", mayBind("set1"), teamOf),
		Entry("for every set", mayBind(), userOf),
		Entry("for several", mayBind("set0", "set1"), userOf),
		Entry("every verb", right(clusterGroup, "managedclustersets/bind", []string{"*"}, "set1"), userOf),
		Entry("every group", right("*", "managedclustersets/bind", []string{"create"}), userOf),
		Entry("every resource that can be bound", right(clusterGroup, "*/bind", []string{"create"}), userOf),
		Entry("every resource", right(clusterGroup, "*", []string{"create"}, "set1"), teamOf),
		Entry("everything", right("*", "*", []string{"*"}), teamOf),
	)

	DescribeTable("does not count what is almost the right", func(ctx SpecContext, rule rbacv1.PolicyRule) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		alice := certified(f, "alice")
		grantTo(ctx, f, alice.subject(), mayWrite(bindings), rule, mayBind("control"))
		Eventually(func() error { return alice.tries(ctx, newBinding(f, "control", "control")) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		Expect(alice.tries(ctx, newBinding(f, "set1", "set1"))).To(notAllowedToBind(alice, "set1"))
	},
		Entry("another set", mayBind("set11")),
		Entry("the verb bind", right(clusterGroup, "managedclustersets", []string{"bind"})),
		Entry("to join", mayJoin("set1")),
		Entry("another group", right("example.com", "managedclustersets/bind", []string{"create"})),
		Entry("the set itself", right(clusterGroup, "managedclustersets", []string{"*"})),
		Entry("another verb", right(clusterGroup, "managedclustersets/bind", []string{"get", "update", "patch"})),
	)

	It("names no set that a binding does not name", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		for _, body := range []string{"", `,"spec":{}`} {
			patch := `{"apiVersion":"` + clusterv1beta2.GroupVersion.String() + `","kind":"ManagedClusterSetBinding","metadata":{"name":"set1"}` +
				body + `}`
			Expect(suite.Client.Patch(ctx, newBinding(f, "set1", ""), client.RawPatch("application/apply-patch+yaml", []byte(patch)),
				client.FieldOwner("spec"), client.DryRunAll)).To(beInvalid(mustMatch), patch)
		}
	})

	It("admits objects of any size", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		binding := newBinding(f, "set1", "set1")
		binding.Annotations = map[string]string{"example.com/large": strings.Repeat("large ", 40_000)}
		for _, short := range suite.Shorts(1, 999) {
			metav1.SetMetaDataLabel(&binding.ObjectMeta, short, "a")
			binding.Finalizers = append(binding.Finalizers, "example.com/"+short)
		}
		Expect(tryOut(ctx, binding)).To(Succeed())
	})
})

func teamOf(f *suite.Fixture, _ *person) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: f.Name("team")}
}

func userOf(_ *suite.Fixture, p *person) rbacv1.Subject { return p.subject() }
