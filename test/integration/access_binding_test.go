package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const bindings = "managedclustersetbindings"

var _ = Describe("Admission of a binding", func() {
	for way, comes := range ways {
		It("41, S4: with "+way+", takes the right to bind the set", func(ctx SpecContext) {
			w := newWorld(ctx)
			w.accessInForce(ctx)

			alice, set, binding := comes(ctx, w, "alice"), w.name("set"), w.newBinding(w.name("set"), w.name("set"))
			w.grant(ctx, alice.subject(), mayWrite(bindings))
			Eventually(func() error { return alice.tries(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(settle).
				Should(notAllowedToBind(alice, set))
			Expect(alice.tries(ctx, binding.DeepCopy())).To(MatchError(ContainSubstring(`the verb "create" on managedclustersets/bind`)))

			By("the name rule, which comes before the right")
			Expect(alice.tries(ctx, w.newBinding("other", set))).To(beInvalid(mustMatch))

			By("the right on this set; the set need not exist")
			revoke := w.grant(ctx, alice.subject(), mayBind(set))
			Eventually(func() error { return alice.Create(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(settle).Should(Succeed())
			Expect(alice.tries(ctx, w.newBinding("other", set))).To(beInvalid(mustMatch))
			Expect(alice.tries(ctx, w.newBinding("global", "global"))).To(notAllowedToBind(alice, "global"))

			By("an update, which cannot name a new set and else needs no right to bind")
			revoke()
			Eventually(func() error { return alice.tries(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(settle).
				Should(notAllowedToBind(alice, set))
			Expect(changes(ctx, alice, binding, func(b *clusterv1beta2.ManagedClusterSetBinding) { b.Spec.ClusterSet = "other" })).
				To(beInvalid(mustMatch))
			Expect(changes(ctx, alice, binding, func(b *clusterv1beta2.ManagedClusterSetBinding) {
				b.Labels, b.Annotations, b.Finalizers = map[string]string{"a": "b"}, map[string]string{"a": "b"}, []string{"example.com/hold"}
			})).To(Succeed())
		})
	}

	It("38: what a user has bound is Bound while the set exists", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.accessInForce(ctx)

		alice, binding := w.person("alice"), w.newBinding(w.name("set"), w.name("set"))
		w.grant(ctx, alice.subject(), mayWrite(bindings), mayBind(binding.Name))
		Eventually(func() error { return alice.Create(ctx, binding) }).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		bound := func() string {
			Expect(alice.Get(ctx, client.ObjectKeyFromObject(binding), binding)).To(Succeed())

			for _, condition := range binding.Status.Conditions {
				if condition.Type == clusterv1beta2.ClusterSetBindingBoundType {
					return string(condition.Status) + " " + condition.Reason
				}
			}

			return ""
		}
		Eventually(bound).WithContext(ctx).WithTimeout(settle).Should(Equal("False ClusterSetNotFound"))

		set := w.unboundSet(ctx, "set")
		Eventually(bound).WithContext(ctx).WithTimeout(settle).Should(Equal("True ClusterSetBound"))

		Expect(hub.Delete(ctx, set)).To(Succeed())
		Eventually(bound).WithContext(ctx).WithTimeout(settle).Should(Equal("False ClusterSetNotFound"))
	})

	DescribeTable("counts every way to grant the right in the whole hub",
		func(ctx SpecContext, rule rbacv1.PolicyRule, subjectOf func(w *world, p *person) rbacv1.Subject) {
			w := newWorld(ctx)
			w.accessInForce(ctx)

			alice := w.person("alice", w.name("team"))
			w.grant(ctx, alice.subject(), mayWrite(bindings))
			Eventually(func() error { return alice.tries(ctx, w.newBinding("set1", "set1")) }).WithContext(ctx).WithTimeout(settle).
				Should(notAllowedToBind(alice, "set1"))

			w.grant(ctx, subjectOf(w, alice), rule)
			Eventually(func() error { return alice.tries(ctx, w.newBinding("set1", "set1")) }).WithContext(ctx).WithTimeout(settle).
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
		w := newWorld(ctx)
		w.accessInForce(ctx)

		alice := w.person("alice")
		w.grant(ctx, alice.subject(), mayWrite(bindings), rule, mayBind("control"))
		Eventually(func() error { return alice.tries(ctx, w.newBinding("control", "control")) }).WithContext(ctx).WithTimeout(settle).
			Should(Succeed())
		Expect(alice.tries(ctx, w.newBinding("set1", "set1"))).To(notAllowedToBind(alice, "set1"))
	},
		Entry("another set", mayBind("set11")),
		Entry("the verb bind", right(clusterGroup, "managedclustersets", []string{"bind"})),
		Entry("to join", mayJoin("set1")),
		Entry("another group", right("example.com", "managedclustersets/bind", []string{"create"})),
		Entry("the set itself", right(clusterGroup, "managedclustersets", []string{"*"})),
		Entry("another verb", right(clusterGroup, "managedclustersets/bind", []string{"get", "update", "patch"})),
	)

	It("names no set that a binding does not name", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.accessInForce(ctx)

		for _, body := range []string{"", `,"spec":{}`} {
			patch := `{"apiVersion":"` + clusterv1beta2.GroupVersion.String() + `","kind":"ManagedClusterSetBinding","metadata":{"name":"set1"}` +
				body + `}`
			Expect(hub.Patch(ctx, w.newBinding("set1", ""), client.RawPatch("application/apply-patch+yaml", []byte(patch)),
				client.FieldOwner("spec"), client.DryRunAll)).To(beInvalid(mustMatch), patch)
		}
	})

	It("admits objects of any size", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.accessInForce(ctx)

		binding := w.newBinding("set1", "set1")
		binding.Annotations = map[string]string{"example.com/large": strings.Repeat("large ", 40_000)}

		for _, short := range shorts(1, 999) {
			metav1.SetMetaDataLabel(&binding.ObjectMeta, short, "a")
			binding.Finalizers = append(binding.Finalizers, "example.com/"+short)
		}

		Expect(tryOut(ctx, binding)).To(Succeed())
	})
})

func teamOf(w *world, _ *person) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: w.name("team")}
}

func userOf(_ *world, p *person) rbacv1.Subject { return p.subject() }
