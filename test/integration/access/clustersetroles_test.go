// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// setRole is a ClusterRole that the hub keeps for the set "set" of this fixture.
func setRole(f *suite.Fixture, purpose string) *rbacv1.ClusterRole {
	return roleOfSet(purpose, f.Name("set"))
}

func roleOfSet(purpose, set string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management:managedclusterset:" + purpose + ":" + set}}
}

// present waits until an object is there.
func present[O client.Object](ctx context.Context, object O) O {
	GinkgoHelper()
	Eventually(func() error { return suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object) }).WithContext(ctx).WithTimeout(suite.Timeout).
		Should(Succeed())
	return object
}

// expectRules waits until a role has the rules.
func expectRules(ctx context.Context, role *rbacv1.ClusterRole, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		found := &rbacv1.ClusterRole{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(role), found)).To(Succeed())
		g.Expect(found.Rules).To(ConsistOf(rules))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// roleWrites are the requests of the hub about the ClusterRoles of a set.
func roleWrites(g Gomega, roles ...*rbacv1.ClusterRole) []string {
	return slices.DeleteFunc(suite.HubWrites(g, func(namespace string) bool { return namespace == "" }), func(write string) bool {
		return !slices.ContainsFunc(roles, func(role *rbacv1.ClusterRole) bool {
			return slices.Contains([]string{"create clusterroles/" + role.Name, "update clusterroles/" + role.Name}, write)
		})
	})
}

var _ = Describe("The ClusterRoles of a set", func() {
	get := func(set string) rbacv1.PolicyRule {
		return right(clusterGroup, "managedclustersets", []string{"get"}, set)
	}
	rules := func(f *suite.Fixture) map[string][]rbacv1.PolicyRule {
		name := f.Name("set")
		joinAndBind := mayJoin(name)
		joinAndBind.Resources = append(joinAndBind.Resources, "managedclustersets/bind")
		return map[string][]rbacv1.PolicyRule{
			"admin": {
				right(clusterGroup, "managedclustersets", []string{"get", "update"}, name), joinAndBind,
				right(clusterGroup, "managedclusters", []string{"create"}), mayAccept(),
			},
			"bind": {get(name), mayBind(name)},
			"view": {get(name)},
		}
	}

	It("U17: are made with the set, with these rules, and go with it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.UnboundSet(ctx, "set")
		for purpose, want := range rules(f) {
			role := present(ctx, setRole(f, purpose))
			expectRules(ctx, role, want...)
			Expect(role.Labels).To(HaveKeyWithValue("app.kubernetes.io/managed-by", "placement-hub-clusterset-roles"))
			Expect(role.OwnerReferences).To(ConsistOf(metav1.OwnerReference{
				APIVersion: clusterv1beta2.GroupVersion.String(), Kind: "ManagedClusterSet", Name: set.Name, UID: set.UID, Controller: ptr.To(true),
			}))
		}

		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		for purpose := range rules(f) {
			suite.ExpectGoneWithin(ctx, suite.CollectTimeout, setRole(f, purpose))
		}
	})

	It("U16, U17: are those of default and global, too", func(ctx SpecContext) {
		for _, set := range []string{"default", "global"} {
			for _, purpose := range []string{"admin", "bind", "view"} {
				present(ctx, roleOfSet(purpose, set))
			}
		}
	})

	It("belong to the new set when one is deleted and made again at once", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.UnboundSet(ctx, "set")
		present(ctx, setRole(f, "bind"))
		Expect(suite.Client.Delete(ctx, set)).To(Succeed())
		again := f.UnboundSet(ctx, "set")

		for purpose := range rules(f) {
			Eventually(func(g Gomega) {
				role := setRole(f, purpose)
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(role), role)).To(Succeed())
				g.Expect(role.DeletionTimestamp).To(BeNil())
				g.Expect(role.OwnerReferences).To(ConsistOf(HaveField("UID", again.UID)))
			}).WithContext(ctx).WithTimeout(suite.CollectTimeout).Should(Succeed())
		}
	})

	It("are put back when they are edited or deleted; what others add to their metadata stays", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.UnboundSet(ctx, "set")
		admin, bind, view := setRole(f, "admin"), setRole(f, "bind"), setRole(f, "view")
		for _, role := range []*rbacv1.ClusterRole{admin, bind, view} {
			present(ctx, role)
		}

		suite.Edit(ctx, bind, func(r *rbacv1.ClusterRole) {
			r.Rules = append(r.Rules, mayBind())
			r.Labels["a"], r.Annotations, r.Finalizers = "b", map[string]string{"a": "b"}, []string{"example.com/hold"}
		})
		DeferCleanup(func(ctx SpecContext) { suite.DropFinalizers(ctx, bind) })
		expectRules(ctx, bind, rules(f)["bind"]...)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(bind), bind)).To(Succeed())
		Expect(bind.Labels).To(HaveKeyWithValue("a", "b"))
		Expect(bind.Annotations).To(HaveKeyWithValue("a", "b"))
		Expect(bind.Finalizers).To(ConsistOf("example.com/hold"))

		suite.Edit(ctx, view, func(r *rbacv1.ClusterRole) { r.OwnerReferences = nil })
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(view), view)).To(Succeed())
			g.Expect(view.OwnerReferences).To(HaveLen(1))
			g.Expect(view.OwnerReferences[0].UID).To(Equal(set.UID))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		before := admin.UID
		Expect(suite.Client.Delete(ctx, admin)).To(Succeed())
		Eventually(func(g Gomega) {
			fresh := setRole(f, "admin")
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(fresh), fresh)).To(Succeed())
			g.Expect(fresh.UID).NotTo(Equal(before))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		expectRules(ctx, admin, rules(f)["admin"]...)
	})

	It("are left alone where somebody else made them, until they are gone", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		foreign := setRole(f, "bind")
		foreign.Rules = []rbacv1.PolicyRule{get("other")}
		f.Create(ctx, foreign)
		// The hub mends a role that was edited later, so it has seen the foreign one.
		f.UnboundSet(ctx, "fence")
		fence := present(ctx, roleOfSet("view", f.Name("fence")))
		suite.Edit(ctx, fence, func(r *rbacv1.ClusterRole) { r.Rules = nil })
		expectRules(ctx, fence, get(f.Name("fence")))

		f.UnboundSet(ctx, "set")
		present(ctx, setRole(f, "admin"))

		// One that collects the rules of others can be had by nobody but who may do everything: nor could the hub undo it.
		view := present(ctx, setRole(f, "view"))
		suite.Edit(ctx, view, func(r *rbacv1.ClusterRole) {
			here := metav1.LabelSelector{MatchLabels: map[string]string{suite.FixtureLabel: f.Namespace}}
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{here}}
		})

		version := present(ctx, setRole(f, "bind")).ResourceVersion
		expectRules(ctx, view, get("other"))
		before := suite.AwaitUnchanged(ctx, func(g Gomega) []string { return roleWrites(g, foreign, view) })
		Expect(before).NotTo(ContainElement(ContainSubstring(foreign.Name)))
		Consistently(func(g Gomega) []string { return roleWrites(g, foreign, view) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			WithPolling(suite.AuditInterval).Should(Equal(before))
		Expect(present(ctx, setRole(f, "bind")).ResourceVersion).To(Equal(version))

		Expect(suite.Client.Delete(ctx, foreign)).To(Succeed())
		expectRules(ctx, foreign, rules(f)["bind"]...)
	})

	It("cost one request each, and none at a restart", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.UnboundSet(ctx, "set")
		roles := []*rbacv1.ClusterRole{setRole(f, "admin"), setRole(f, "bind"), setRole(f, "view")}
		for _, role := range roles {
			present(ctx, role)
		}
		f.Clusters(ctx, "set", 1, 2)
		suite.ExpectSetCondition(ctx, set, "False ClustersSelected: 2 ManagedClusters selected")
		once := func(g Gomega) { g.Expect(roleWrites(g, roles...)).To(HaveLen(3)) }
		Eventually(once).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())

		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		f.Cluster(ctx, "set", "c003")
		suite.ExpectSetCondition(ctx, set, "False ClustersSelected: 3 ManagedClusters selected")
		Consistently(once).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Succeed())
	})
})

var _ = Describe("A user with a ClusterRole of a set", func() {
	It("U17: admin, moves a cluster into it, and binds it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		f.UnboundSet(ctx, "set")
		p, set := certified(f, "admin"), f.Name("set")
		bindRole(ctx, f, p.subject(), present(ctx, setRole(f, "admin")).Name)
		grantTo(ctx, f, p.subject(), mayWrite(bindings), right(clusterGroup, clusters, []string{"get", "update"}))
		Eventually(func() error { return p.tries(ctx, newBinding(f, set, set)) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		Expect(p.Create(ctx, newCluster(f, "c", set, accepted))).To(Succeed())
		Expect(p.tries(ctx, newCluster(f, "c2", "global"))).To(cannotMove(p, "global"))
		stray := newCluster(f, "stray", "")
		stray.Labels = map[string]string{suite.FixtureLabel: f.Namespace}
		f.Create(ctx, stray)
		grantTo(ctx, f, p.subject(), mayJoin("default")) // What has no set may be in this one.
		Eventually(func() error { return changes(ctx, p, stray, movedTo(set)) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		found := &clusterv1beta2.ManagedClusterSet{}
		Expect(p.Get(ctx, client.ObjectKey{Name: set}, found)).To(Succeed())
		metav1.SetMetaDataLabel(&found.ObjectMeta, "a", "b")
		Expect(client.NewDryRunClient(p).Update(ctx, found)).To(Or(Succeed(), MatchError(ContainSubstring("the object has been modified"))))
		Expect(p.Get(ctx, client.ObjectKey{Name: "global"}, found)).To(beForbidden("cannot get resource"))
		Expect(p.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name("c")}})).To(beForbidden("cannot delete"))
	})

	It("U17: bind, binds that set and no other", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		f.UnboundSet(ctx, "set")
		f.UnboundSet(ctx, "other")

		p := certified(f, "binder")
		roleHere(ctx, f, p.subject(), "edit")
		bindRole(ctx, f, p.subject(), present(ctx, setRole(f, "bind")).Name)
		Eventually(func() error { return p.Create(ctx, newBinding(f, f.Name("set"), f.Name("set"))) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		Expect(p.tries(ctx, newBinding(f, f.Name("other"), f.Name("other")))).To(notAllowedToBind(p, f.Name("other")))
		Expect(p.Get(ctx, client.ObjectKey{Name: f.Name("set")}, &clusterv1beta2.ManagedClusterSet{})).To(Succeed())
		Expect(verbsOf(ctx, p.user, "", clusterGroup+"/managedclustersets")).To(BeEmpty(), "of every name")
	})

	It("U17: view, reads it and no other", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		p := certified(f, "viewer")
		bindRole(ctx, f, p.subject(), present(ctx, setRole(f, "view")).Name)
		set := &clusterv1beta2.ManagedClusterSet{}
		Eventually(func() error { return p.Get(ctx, client.ObjectKey{Name: f.Name("set")}, set) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		Expect(p.Update(ctx, set)).To(beForbidden("cannot update resource"))
		Expect(p.Get(ctx, client.ObjectKey{Name: "global"}, set)).To(beForbidden("cannot get resource"))
	})
})
