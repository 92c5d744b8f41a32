package integration

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
)

// setRole is a ClusterRole that the hub keeps for the set "set" of this world.
func (w *world) setRole(purpose string) *rbacv1.ClusterRole { return roleOfSet(purpose, w.name("set")) }

func roleOfSet(purpose, set string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management:managedclusterset:" + purpose + ":" + set}}
}

// present waits until an object is there.
func present[O client.Object](ctx context.Context, object O) O {
	GinkgoHelper()
	Eventually(func() error { return hub.Get(ctx, client.ObjectKeyFromObject(object), object) }).WithContext(ctx).WithTimeout(settle).
		Should(Succeed())

	return object
}

// expectRules waits until a role has the rules.
func expectRules(ctx context.Context, role *rbacv1.ClusterRole, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		found := &rbacv1.ClusterRole{}
		g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(role), found)).To(Succeed())
		g.Expect(found.Rules).To(ConsistOf(rules))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// roleWrites are the requests of the hub about the ClusterRoles of a set.
func roleWrites(g Gomega, roles ...*rbacv1.ClusterRole) []string {
	return slices.DeleteFunc(hubWrites(g, func(namespace string) bool { return namespace == "" }), func(write string) bool {
		return !slices.ContainsFunc(roles, func(role *rbacv1.ClusterRole) bool {
			return slices.Contains([]string{"create clusterroles/" + role.Name, "update clusterroles/" + role.Name}, write)
		})
	})
}

var _ = Describe("The ClusterRoles of a set", func() {
	get := func(set string) rbacv1.PolicyRule {
		return right(clusterGroup, "managedclustersets", []string{"get"}, set)
	}
	rules := func(w *world) map[string][]rbacv1.PolicyRule {
		name := w.name("set")
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
		w := newWorld(ctx)
		set := w.unboundSet(ctx, "set")

		for purpose, want := range rules(w) {
			role := present(ctx, w.setRole(purpose))
			expectRules(ctx, role, want...)
			Expect(role.Labels).To(HaveKeyWithValue("app.kubernetes.io/managed-by", "placement-hub-clusterset-roles"))
			Expect(role.OwnerReferences).To(ConsistOf(metav1.OwnerReference{
				APIVersion: clusterv1beta2.GroupVersion.String(), Kind: "ManagedClusterSet", Name: set.Name, UID: set.UID, Controller: ptr.To(true),
			}))
		}

		Expect(hub.Delete(ctx, set)).To(Succeed())

		for purpose := range rules(w) {
			goneWithin(ctx, collect, w.setRole(purpose))
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
		w := newWorld(ctx)
		set := w.unboundSet(ctx, "set")
		present(ctx, w.setRole("bind"))
		Expect(hub.Delete(ctx, set)).To(Succeed())

		again := w.unboundSet(ctx, "set")

		for purpose := range rules(w) {
			Eventually(func(g Gomega) {
				role := w.setRole(purpose)
				g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(role), role)).To(Succeed())
				g.Expect(role.DeletionTimestamp).To(BeNil())
				g.Expect(role.OwnerReferences).To(ConsistOf(HaveField("UID", again.UID)))
			}).WithContext(ctx).WithTimeout(collect).Should(Succeed())
		}
	})

	It("are put back when they are edited or deleted; what others add to their metadata stays", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.unboundSet(ctx, "set")
		admin, bind, view := w.setRole("admin"), w.setRole("bind"), w.setRole("view")

		for _, role := range []*rbacv1.ClusterRole{admin, bind, view} {
			present(ctx, role)
		}

		edit(ctx, bind, func(r *rbacv1.ClusterRole) {
			r.Rules = append(r.Rules, mayBind())
			r.Labels["a"], r.Annotations, r.Finalizers = "b", map[string]string{"a": "b"}, []string{"example.com/hold"}
		})
		DeferCleanup(func(ctx SpecContext) { finish(ctx, bind) })
		expectRules(ctx, bind, rules(w)["bind"]...)
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(bind), bind)).To(Succeed())
		Expect(bind.Labels).To(HaveKeyWithValue("a", "b"))
		Expect(bind.Annotations).To(HaveKeyWithValue("a", "b"))
		Expect(bind.Finalizers).To(ConsistOf("example.com/hold"))

		edit(ctx, view, func(r *rbacv1.ClusterRole) { r.OwnerReferences = nil })
		Eventually(func(g Gomega) {
			g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(view), view)).To(Succeed())
			g.Expect(view.OwnerReferences).To(HaveLen(1))
			g.Expect(view.OwnerReferences[0].UID).To(Equal(set.UID))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		before := admin.UID
		Expect(hub.Delete(ctx, admin)).To(Succeed())
		Eventually(func(g Gomega) {
			fresh := w.setRole("admin")
			g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(fresh), fresh)).To(Succeed())
			g.Expect(fresh.UID).NotTo(Equal(before))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		expectRules(ctx, admin, rules(w)["admin"]...)
	})

	It("are left alone where somebody else made them, until they are gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		foreign := w.setRole("bind")
		foreign.Rules = []rbacv1.PolicyRule{get("other")}
		w.create(ctx, foreign)

		w.unboundSet(ctx, "set")
		present(ctx, w.setRole("admin"))

		// One that collects the rules of others can be had by nobody but who may do everything: nor could the hub undo it.
		view := present(ctx, w.setRole("view"))
		edit(ctx, view, func(r *rbacv1.ClusterRole) {
			here := metav1.LabelSelector{MatchLabels: map[string]string{worldLabel: w.namespace}}
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{here}}
		})

		version := present(ctx, w.setRole("bind")).ResourceVersion
		expectRules(ctx, view, get("other"))
		before := unchanging(ctx, func(g Gomega) []string { return roleWrites(g, foreign, view) })
		Expect(before).NotTo(ContainElement(ContainSubstring(foreign.Name)))
		Consistently(func(g Gomega) []string { return roleWrites(g, foreign, view) }).WithContext(ctx).WithTimeout(quiet).
			WithPolling(auditEvery).Should(Equal(before))
		Expect(present(ctx, w.setRole("bind")).ResourceVersion).To(Equal(version))

		Expect(hub.Delete(ctx, foreign)).To(Succeed())
		expectRules(ctx, foreign, rules(w)["bind"]...)
	})

	It("cost one request each, and none at a restart", Serial, func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.unboundSet(ctx, "set")
		roles := []*rbacv1.ClusterRole{w.setRole("admin"), w.setRole("bind"), w.setRole("view")}

		for _, role := range roles {
			present(ctx, role)
		}

		w.clusters(ctx, "set", 1, 2)
		expectSetCondition(ctx, set, "False ClustersSelected: 2 ManagedClusters selected")

		once := func(g Gomega) { g.Expect(roleWrites(g, roles...)).To(HaveLen(3)) }
		Eventually(once).WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())

		stopHub()
		stopHub = startHub(serviceAccount(ctx, controlPlane))

		w.cluster(ctx, "set", "c003")
		expectSetCondition(ctx, set, "False ClustersSelected: 3 ManagedClusters selected")
		Consistently(once).WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Succeed())
	})
})

var _ = Describe("A user with a ClusterRole of a set", func() {
	It("U17: admin, moves a cluster into it, and binds it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.accessInForce(ctx)
		w.unboundSet(ctx, "set")

		p, set := w.person("admin"), w.name("set")
		w.bindRole(ctx, p.subject(), present(ctx, w.setRole("admin")).Name)
		w.grant(ctx, p.subject(), mayWrite(bindings), right(clusterGroup, clusters, []string{"get", "update"}))
		Eventually(func() error { return p.tries(ctx, w.newBinding(set, set)) }).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		Expect(p.Create(ctx, w.newCluster("c", set, accepted))).To(Succeed())
		Expect(p.tries(ctx, w.newCluster("c2", "global"))).To(cannotMove(p, "global"))

		stray := w.newCluster("stray", "")
		stray.Labels = map[string]string{worldLabel: w.namespace}
		w.create(ctx, stray)
		w.grant(ctx, p.subject(), mayJoin("default")) // What has no set may be in this one.
		Eventually(func() error { return changes(ctx, p, stray, movedTo(set)) }).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		found := &clusterv1beta2.ManagedClusterSet{}
		Expect(p.Get(ctx, client.ObjectKey{Name: set}, found)).To(Succeed())
		metav1.SetMetaDataLabel(&found.ObjectMeta, "a", "b")
		Expect(client.NewDryRunClient(p).Update(ctx, found)).To(Or(Succeed(), MatchError(ContainSubstring("the object has been modified"))))
		Expect(p.Get(ctx, client.ObjectKey{Name: "global"}, found)).To(beForbidden("cannot get resource"))
		Expect(p.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name("c")}})).To(beForbidden("cannot delete"))
	})

	It("U17: bind, binds that set and no other", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.accessInForce(ctx)
		w.unboundSet(ctx, "set")
		w.unboundSet(ctx, "other")

		p := w.person("binder")
		w.roleHere(ctx, p.subject(), "edit")
		w.bindRole(ctx, p.subject(), present(ctx, w.setRole("bind")).Name)
		Eventually(func() error { return p.Create(ctx, w.newBinding(w.name("set"), w.name("set"))) }).WithContext(ctx).WithTimeout(settle).
			Should(Succeed())
		Expect(p.tries(ctx, w.newBinding(w.name("other"), w.name("other")))).To(notAllowedToBind(p, w.name("other")))
		Expect(p.Get(ctx, client.ObjectKey{Name: w.name("set")}, &clusterv1beta2.ManagedClusterSet{})).To(Succeed())
		Expect(verbsOf(ctx, p.user, "", clusterGroup+"/managedclustersets")).To(BeEmpty(), "of every name")
	})

	It("U17: view, reads it and no other", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.unboundSet(ctx, "set")

		p := w.person("viewer")
		w.bindRole(ctx, p.subject(), present(ctx, w.setRole("view")).Name)

		set := &clusterv1beta2.ManagedClusterSet{}
		Eventually(func() error { return p.Get(ctx, client.ObjectKey{Name: w.name("set")}, set) }).WithContext(ctx).WithTimeout(settle).
			Should(Succeed())
		Expect(p.Update(ctx, set)).To(beForbidden("cannot update resource"))
		Expect(p.Get(ctx, client.ObjectKey{Name: "global"}, set)).To(beForbidden("cannot get resource"))
	})
})
