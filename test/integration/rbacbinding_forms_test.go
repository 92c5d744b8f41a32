package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// The forms of docs/spec/scope.md S7 and S8.
var _ = Describe("What an account may bind", func() {
	DescribeTable("by whom a ClusterRoleBinding names",
		func(ctx SpecContext, subject func(namespace string) rbacv1.Subject) {
			w := newRBACWorld(ctx)
			w.unboundSet(ctx, "blue")
			w.unboundSet(ctx, "red")
			w.role(ctx, "role", bindRule(w.name("blue")))
			granted := w.grant(ctx, "role", userNamed("alice"), subject(w.namespace))
			w.expectBound(ctx, w.namespace, "blue")
			Expect(review(ctx, Default, w.namespace, w.name("blue"))).To(BeTrue())

			Expect(hub.Delete(ctx, granted)).To(Succeed())
			w.expectBound(ctx, w.namespace)
		},
		Entry("the ServiceAccount itself", accountOf),
		Entry("its user", func(namespace string) rbacv1.Subject {
			return userNamed("system:serviceaccount:" + namespace + ":placement")
		}),
		Entry("the group of its namespace", func(namespace string) rbacv1.Subject { return groupNamed("system:serviceaccounts:" + namespace) }),
		Entry("all service accounts", func(string) rbacv1.Subject { return groupNamed("system:serviceaccounts") }),
		Entry("everybody with a name", func(string) rbacv1.Subject { return groupNamed("system:authenticated") }),
	)

	DescribeTable("by the words of a rule",
		func(ctx SpecContext, change func(*rbacv1.PolicyRule), others ...string) {
			w := newRBACWorld(ctx)
			w.unboundSet(ctx, "blue")
			w.unboundSet(ctx, "red")

			rule := bindRule(w.name("blue"), w.name("absent"))
			change(&rule)
			w.role(ctx, "role", rule)
			w.grant(ctx, "role", accountOf(w.namespace))
			w.expectBound(ctx, w.namespace, append([]string{"blue"}, others...)...)
		},
		Entry("resourceNames", func(*rbacv1.PolicyRule) {}),
		Entry("verb *", func(r *rbacv1.PolicyRule) { r.Verbs = []string{"*"} }),
		Entry("apiGroup *", func(r *rbacv1.PolicyRule) { r.APIGroups = []string{"*"} }),
		Entry("resource */bind", func(r *rbacv1.PolicyRule) { r.Resources = []string{"*/bind"} }),
		Entry("resource *", func(r *rbacv1.PolicyRule) { r.Resources = []string{"pods", "*"} }),
		Entry("no resourceNames", func(r *rbacv1.PolicyRule) { r.ResourceNames = nil }, "red"),
	)

	It("not by what only looks alike, and never by a RoleBinding", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		for _, short := range []string{"blue", "last"} {
			w.unboundSet(ctx, short)
		}

		for short, change := range map[string]func(*rbacv1.PolicyRule){
			"verb": func(r *rbacv1.PolicyRule) {
				r.Verbs = []string{"get", "list", "watch", "update", "patch", "delete", "bind"}
			},
			"group": func(r *rbacv1.PolicyRule) { r.APIGroups = []string{"", "placement.open-cluster-management.io"} },
			"resource": func(r *rbacv1.PolicyRule) {
				r.Resources = []string{"managedclustersets", "managedclustersets/*", "*/join", "*/*"}
			},
			"name": func(r *rbacv1.PolicyRule) { r.ResourceNames = []string{"*", "blue", w.name("blu")} },
		} {
			rule := bindRule()
			change(&rule)
			w.role(ctx, short, rule)
			w.grant(ctx, short, accountOf(w.namespace))
		}

		w.role(ctx, "all", bindRule())
		w.grant(ctx, "all", userNamed("placement"), userNamed("*"), groupNamed("*"), groupNamed("system:unauthenticated"),
			groupNamed("system:serviceaccounts:"), userNamed("system:serviceaccount:"+w.namespace+":default"),
			rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: "default"})

		reference := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: w.name("all")}
		w.create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bait"}, RoleRef: reference,
			Subjects: []rbacv1.Subject{accountOf(w.namespace), groupNamed("system:authenticated")},
		})
		w.create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bait"}, Rules: []rbacv1.PolicyRule{bindRule()}})

		reference.Kind, reference.Name = "Role", "bait"
		w.create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bait2"}, RoleRef: reference,
			Subjects: []rbacv1.Subject{accountOf(w.namespace)},
		})
		w.role(ctx, "last", bindRule(w.name("last")))
		w.grant(ctx, "last", accountOf(w.namespace))
		w.expectBound(ctx, w.namespace, "last")

		w.another(ctx, "without")
		w.grantTo(ctx, "everyone", "last", groupNamed("system:serviceaccounts"))
		w.account(ctx, w.another(ctx, "with"))
		w.expectBound(ctx, w.name("with"), "last")
		w.expectBound(ctx, w.name("without"))
		w.expectBound(ctx, w.namespace, "last")
	})

	It("by an aggregated role, as it aggregates", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		w.unboundSet(ctx, "blue")
		w.unboundSet(ctx, "red")

		aggregate := map[string]string{w.name("aggregate"): "true"}
		w.create(ctx, &rbacv1.ClusterRole{
			ObjectMeta:      metav1.ObjectMeta{Name: w.name("whole")},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: aggregate}}},
		})
		w.grant(ctx, "whole", accountOf(w.namespace))
		w.create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: w.name("part1"), Labels: map[string]string{w.name("aggregate"): "true"}},
			Rules:      []rbacv1.PolicyRule{bindRule(w.name("blue"))},
		})
		w.expectBound(ctx, w.namespace, "blue")

		part := w.role(ctx, "part2", bindRule(w.name("red")))
		edit(ctx, part, func(r *rbacv1.ClusterRole) { r.Labels[w.name("aggregate")] = "true" })
		w.expectBound(ctx, w.namespace, "blue", "red")

		Expect(hub.Delete(ctx, part)).To(Succeed())
		w.expectBound(ctx, w.namespace, "blue")
	})

	It("every set, also one that is created later, by a rule without names", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		w.unboundSet(ctx, "blue")
		w.role(ctx, "all", bindRule())
		w.grant(ctx, "all", accountOf(w.namespace))
		w.expectBound(ctx, w.namespace, "blue")
		Expect(w.bindings(ctx, Default, w.namespace)).To(And(HaveKey("default"), HaveKey("global")))

		red := w.unboundSet(ctx, "red")
		w.expectBound(ctx, w.namespace, "blue", "red")

		Expect(hub.Delete(ctx, red)).To(Succeed())
		w.expectBound(ctx, w.namespace, "blue")
	})

	It("by all rules of all roles together, and follows each of them", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		for _, short := range []string{"blue", "green", "red"} {
			w.unboundSet(ctx, short)
		}

		role := w.role(ctx, "first", bindRule(w.name("blue")), rbacv1.PolicyRule{
			Verbs: []string{"get"}, APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclustersets"},
		})
		w.grant(ctx, "first", accountOf(w.namespace))
		w.role(ctx, "second", bindRule(w.name("blue"), w.name("red")))
		second := w.grant(ctx, "second", userNamed("alice"))
		w.expectBound(ctx, w.namespace, "blue")

		edit(ctx, second, func(b *rbacv1.ClusterRoleBinding) { b.Subjects = append(b.Subjects, accountOf(w.namespace)) })
		w.expectBound(ctx, w.namespace, "blue", "red")

		edit(ctx, role, func(r *rbacv1.ClusterRole) { r.Rules[0].ResourceNames = w.names("green") })
		w.expectBound(ctx, w.namespace, "blue", "green", "red")

		edit(ctx, second, func(b *rbacv1.ClusterRoleBinding) { b.Subjects = b.Subjects[:1] })
		w.expectBound(ctx, w.namespace, "green")

		Expect(hub.Delete(ctx, role)).To(Succeed())
		w.expectBound(ctx, w.namespace)

		w.role(ctx, "first", bindRule(w.name("red")))
		w.expectBound(ctx, w.namespace, "red")
	})
})
