// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	managedBy = "placement.open-cluster-management.io/managed-by"
	unmanaged = "placement.open-cluster-management.io/unmanaged"
	keeper    = "clustersetbinding-rbac"
)

// keptBinding is a binding of the controller clustersetbinding-rbac, of a set that the account "placement" of the namespace may bind.
func keptBinding(ctx context.Context, f *suite.Fixture) *clusterv1beta2.ManagedClusterSetBinding {
	GinkgoHelper()
	const short = "set"
	grantTo(ctx, f, serviceAccount(ctx, f, "placement").subject(), mayBind(f.Name(short)))
	f.UnboundSet(ctx, short)
	binding := newBinding(f, f.Name(short), f.Name(short))
	binding.Labels = map[string]string{managedBy: keeper}
	Expect(client.IgnoreAlreadyExists(suite.Client.Create(ctx, binding))).To(Succeed())
	return binding
}

var _ = Describe("A user who may write bindings and has no right to bind", func() {
	type binding = clusterv1beta2.ManagedClusterSetBinding

	// mallory may write bindings and their status, everywhere, and may bind one set.
	mallory := func(ctx context.Context, f *suite.Fixture) *person {
		accessInForce(ctx, f)
		p := certified(f, "mallory")
		grantTo(ctx, f, p.subject(), mayWrite(bindings), mayWrite(bindings+"/status"), mayBind("control"))
		Eventually(func() error { return p.tries(ctx, newBinding(f, "control", "control")) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		return p
	}
	apply := func(name, body string) client.Patch {
		return client.RawPatch("application/apply-patch+yaml", []byte(
			`{"apiVersion":"`+clusterv1beta2.GroupVersion.String()+`","kind":"ManagedClusterSetBinding","metadata":{"name":"`+name+`"}`+body+`}`))
	}

	It("gets none by another way to create one", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		p, secret := mallory(ctx, f), f.Name("secret")
		By("update of what is not there")
		Expect(apierrors.IsNotFound(p.Update(ctx, newBinding(f, secret, secret)))).To(BeTrue())

		By("server-side apply")
		Expect(p.Patch(ctx, newBinding(f, secret, ""), apply(secret, `,"spec":{"clusterSet":"`+secret+`"}`), client.FieldOwner("mallory"))).
			To(notAllowedToBind(p, secret))
		Expect(p.Patch(ctx, newBinding(f, secret, ""), apply(secret, ""), client.FieldOwner("mallory"))).To(beInvalid(mustMatch))

		By("a name that the API server makes up")
		generated := newBinding(f, "", secret)
		generated.GenerateName = secret
		Expect(p.Create(ctx, generated)).To(beInvalid(mustMatch))

		By("the labels of the hub")
		labelled := newBinding(f, secret, secret)
		labelled.Labels = map[string]string{managedBy: keeper, unmanaged: "true", suite.AdmissionLabel: "off"}
		Expect(p.Create(ctx, labelled)).To(notAllowedToBind(p, secret))

		By("a binding to one set that becomes one to another")
		own := newBinding(f, "control", "control")
		Expect(p.Create(ctx, own)).To(Succeed())
		for _, patch := range []string{
			`{"spec":{"clusterSet":"` + secret + `"}}`, `{"spec":null}`, `{"spec":{"clusterSet":null}}`,
		} {
			Expect(p.Patch(ctx, own.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)))).To(beInvalid(mustMatch), patch)
		}

		for _, patch := range []string{
			`{"metadata":{"name":"` + secret + `"}}`, `{"metadata":{"name":"` + secret + `"},"spec":{"clusterSet":"` + secret + `"}}`,
			`{"metadata":{"namespace":"default"}}`,
		} {
			Expect(p.Patch(ctx, own.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)))).NotTo(Succeed(), patch)
		}

		By("the status")
		Expect(p.Status().Patch(ctx, own.DeepCopy(), client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"clusterSet":"`+secret+`"},"metadata":{"labels":{"a":"b"}}}`)))).To(Succeed())
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(own), own)).To(Succeed())
		Expect(own.Spec.ClusterSet).To(Equal("control"))

		By("a namespace that is left out of what is said of placements")
		off := suite.NewFixture(ctx, suite.WithoutAdmission)
		Expect(p.Create(ctx, newBinding(off, secret, secret))).To(notAllowedToBind(p, secret))

		By("all this has bound nothing else")
		all := &clusterv1beta2.ManagedClusterSetBindingList{}
		Expect(suite.Client.List(ctx, all, client.InNamespace(f.Namespace))).To(Succeed())
		Expect(all.Items).To(HaveLen(1))
	})

	DescribeTable("cannot make a binding of clustersetbinding-rbac survive a revocation", func(ctx SpecContext, change func(*binding)) {
		f := suite.NewFixture(ctx)
		p := mallory(ctx, f)
		kept := keptBinding(ctx, f)
		err := changes(ctx, p, kept, change)
		Expect(err).To(notAllowedToBind(p, kept.Name))
		Expect(err).To(MatchError(ContainSubstring("to take its binding over from clustersetbinding-rbac")))
		Expect(err).To(MatchError(ContainSubstring(`the verb "create" on managedclustersets/bind`)))
		grantTo(ctx, f, p.subject(), mayBind(kept.Name))
		Eventually(func() error { return changes(ctx, p, kept, change) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	},
		Entry("by the label unmanaged", func(b *binding) { b.Labels[unmanaged] = "true" }),
		Entry("by an annotation of that name", func(b *binding) { metav1.SetMetaDataAnnotation(&b.ObjectMeta, unmanaged, "true") }),
		Entry("without the label managed-by", func(b *binding) { delete(b.Labels, managedBy) }),
		Entry("without any label", func(b *binding) { b.Labels = nil }),
		Entry("with another manager", func(b *binding) { b.Labels[managedBy] = "mallory" }),
		Entry("by a finalizer, for a binding that is being deleted binds", func(b *binding) {
			b.Finalizers = append(b.Finalizers, "example.com/forever")
		}),
	)

	It("cannot keep such a binding by the way in which it is deleted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		p := mallory(ctx, f)
		kept := keptBinding(ctx, f)
		tries := func(options ...client.DeleteOption) error {
			return p.Delete(ctx, kept.DeepCopy(), append(options, client.DryRunAll)...)
		}
		grantTo(ctx, f, p.subject(), right(clusterGroup, bindings, []string{"deletecollection"}))

		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
			// This policy may be in force a moment later than the others.
			Eventually(func() error { return tries(client.PropagationPolicy(policy)) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(SatisfyAll(notAllowedToBind(p, kept.Name), MatchError(ContainSubstring("delete it in the background"))), string(policy))
			Eventually(func() error {
				return p.DeleteAllOf(ctx, &binding{}, client.InNamespace(f.Namespace), client.PropagationPolicy(policy), client.DryRunAll)
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(notAllowedToBind(p, kept.Name), string(policy))
		}
		orphan := &client.DeleteOptions{Raw: &metav1.DeleteOptions{OrphanDependents: ptr.To(true)}} //nolint:staticcheck // It is still served.
		Expect(p.Delete(ctx, kept.DeepCopy(), orphan, client.DryRunAll)).To(notAllowedToBind(p, kept.Name))

		Expect(tries(client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		Expect(tries()).To(Succeed())

		By("one that nobody keeps goes in every way")
		suite.Edit(ctx, kept, func(b *binding) { b.Labels[unmanaged] = "true" })
		Expect(tries(client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())

		grantTo(ctx, f, p.subject(), mayBind(kept.Name))
		suite.Edit(ctx, kept, func(b *binding) { delete(b.Labels, unmanaged) })
		Eventually(func() error { return tries(client.PropagationPolicy(metav1.DeletePropagationForeground)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("may change of such a binding what does not hand it over", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		p := mallory(ctx, f)
		kept := keptBinding(ctx, f)
		suite.Edit(ctx, kept, func(b *binding) { b.Finalizers = []string{"example.com/hold"} })
		DeferCleanup(func(ctx SpecContext) { suite.DropFinalizers(ctx, kept) })

		Expect(changes(ctx, p, kept, func(b *binding) {
			b.Labels["a"], b.Labels[unmanaged], b.Finalizers = "b", "false", nil
			metav1.SetMetaDataAnnotation(&b.ObjectMeta, unmanaged, "")
		})).To(Succeed())
		Expect(changes(ctx, p, kept, func(b *binding) { b.Spec.ClusterSet = "control" })).To(beInvalid(mustMatch))

		By("what has been handed over before is nobody's any more")
		suite.Edit(ctx, kept, func(b *binding) { b.Labels[unmanaged] = "true" })
		Expect(changes(ctx, p, kept, func(b *binding) { b.Labels, b.Finalizers = nil, append(b.Finalizers, "example.com/more") })).To(Succeed())
		Expect(changes(ctx, p, kept, func(b *binding) { delete(b.Labels, unmanaged) })).To(Succeed())
		suite.Edit(ctx, kept, func(b *binding) {
			delete(b.Labels, unmanaged)
			metav1.SetMetaDataAnnotation(&b.ObjectMeta, unmanaged, "true")
		})
		Expect(changes(ctx, p, kept, func(b *binding) { b.Labels, b.Finalizers = nil, append(b.Finalizers, "example.com/more") })).To(Succeed())
	})
})

var _ = Describe("A user who can act as the account placement of the namespace", func() {
	type binding = clusterv1beta2.ManagedClusterSetBinding

	It("T24: keeps no binding by the right of the account, and neither does another account of the namespace", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		kept := keptBinding(ctx, f)
		borrowed := MatchError(ContainSubstring("keeps the binding while the ServiceAccount placement of the namespace has the right"))
		accounts := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + f.Namespace}
		roleHere(ctx, f, accounts, "admin")
		grantTo(ctx, f, accounts, mayBind(kept.Name))
		token, err := suite.ControlPlane.ServiceAccountConfig(ctx, f.Namespace, "placement")
		Expect(err).NotTo(HaveOccurred())

		account := newPerson(token, "system:serviceaccount:"+f.Namespace+":placement")
		for _, p := range []*person{account, serviceAccount(ctx, f, "robot")} {
			takeOver := func() error { return changes(ctx, p, kept, func(b *binding) { b.Labels[unmanaged] = "true" }) }
			Eventually(takeOver).WithContext(ctx).WithTimeout(suite.Timeout).Should(And(notAllowedToBind(p, kept.Name), borrowed))
			for way, change := range map[string]func(*binding){
				"annotation": func(b *binding) { metav1.SetMetaDataAnnotation(&b.ObjectMeta, unmanaged, "true") },
				"manager":    func(b *binding) { delete(b.Labels, managedBy) },
				"finalizer":  func(b *binding) { b.Finalizers = append(b.Finalizers, "example.com/forever") },
			} {
				Expect(changes(ctx, p, kept, change)).To(And(notAllowedToBind(p, kept.Name), borrowed), way)
			}
			foreground := client.PropagationPolicy(metav1.DeletePropagationForeground)
			Expect(p.Delete(ctx, kept.DeepCopy(), foreground, client.DryRunAll)).To(notAllowedToBind(p, kept.Name))

			By("a binding of its own in the place of the hub's")
			Expect(p.tries(ctx, newBinding(f, kept.Name, kept.Name))).To(And(notAllowedToBind(p, kept.Name), borrowed))
			handedOver := newBinding(f, kept.Name, kept.Name)
			handedOver.Labels = map[string]string{managedBy: keeper, unmanaged: "true"}
			Expect(p.tries(ctx, handedOver)).To(And(notAllowedToBind(p, kept.Name), borrowed))
			Expect(changes(ctx, p, kept, func(b *binding) { b.Labels["a"] = "b" })).To(Succeed())
		}

		By("somebody else with the right")
		admin := certified(f, "admin")
		roleHere(ctx, f, admin.subject(), "admin")
		grantTo(ctx, f, admin.subject(), mayBind(kept.Name))
		Eventually(func() error { return changes(ctx, admin, kept, func(b *binding) { b.Labels[unmanaged] = "true" }) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})
})

var _ = Describe("The owner of a namespace", func() {
	It("S9: reaches no set by a RoleBinding, whoever makes it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		owner, set := certified(f, "owner"), f.Name("set")
		roleHere(ctx, f, owner.subject(), "admin")
		tempting := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: f.Name("tempting")}, Rules: []rbacv1.PolicyRule{mayBind(set)}}
		f.Create(ctx, tempting)

		// The rights of "admin" are in force, with those that are aggregated.
		Eventually(func() error { return owner.tries(ctx, newBinding(f, set, set)) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(notAllowedToBind(owner, set))

		By("a role of his own")
		escalation := "attempting to grant RBAC permissions not currently held"
		Expect(owner.Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "own"}, Rules: []rbacv1.PolicyRule{mayBind(set)},
		})).To(beForbidden(escalation))

		By("a RoleBinding to a role that others have made")
		escalate := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "escalate"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: tempting.Name},
			Subjects:   []rbacv1.Subject{owner.subject()},
		}
		Expect(owner.Create(ctx, escalate.DeepCopy())).To(beForbidden(escalation))

		By("a ClusterRoleBinding")
		Expect(owner.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: f.Name("escalate")}, RoleRef: escalate.RoleRef, Subjects: escalate.Subjects,
		})).To(beForbidden("cannot create resource"))

		By("the RoleBinding of an admin of the hub: it counts in the namespace, and sets are in none")
		f.Create(ctx, escalate)
		Consistently(func() error { return owner.tries(ctx, newBinding(f, set, set)) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			Should(notAllowedToBind(owner, set))
	})
})
