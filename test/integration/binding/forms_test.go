// SPDX-License-Identifier: Apache-2.0

package binding

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The forms of docs/spec/scope.md S7 and S8.
var _ = Describe("What an account may bind", func() {
	DescribeTable("by whom a ClusterRoleBinding names",
		func(ctx SpecContext, subject func(namespace string) rbacv1.Subject) {
			f := newRBACFixture(ctx)
			f.UnboundSet(ctx, "blue")
			f.UnboundSet(ctx, "red")
			f.role(ctx, "role", bindRule(f.Name("blue")))
			granted := f.grant(ctx, "role", userNamed("alice"), subject(f.Namespace))
			f.expectBound(ctx, f.Namespace, "blue")
			Expect(review(ctx, Default, f.Namespace, f.Name("blue"))).To(BeTrue())
			Expect(suite.Client.Delete(ctx, granted)).To(Succeed())
			f.expectBound(ctx, f.Namespace)
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
			f := newRBACFixture(ctx)
			f.UnboundSet(ctx, "blue")
			f.UnboundSet(ctx, "red")
			rule := bindRule(f.Name("blue"), f.Name("absent"))
			change(&rule)
			f.role(ctx, "role", rule)
			f.grant(ctx, "role", accountOf(f.Namespace))
			f.expectBound(ctx, f.Namespace, append([]string{"blue"}, others...)...)
		},
		Entry("resourceNames", func(*rbacv1.PolicyRule) {}),
		Entry("verb *", func(r *rbacv1.PolicyRule) { r.Verbs = []string{"*"} }),
		Entry("apiGroup *", func(r *rbacv1.PolicyRule) { r.APIGroups = []string{"*"} }),
		Entry("resource */bind", func(r *rbacv1.PolicyRule) { r.Resources = []string{"*/bind"} }),
		Entry("resource *", func(r *rbacv1.PolicyRule) { r.Resources = []string{"pods", "*"} }),
		Entry("no resourceNames", func(r *rbacv1.PolicyRule) { r.ResourceNames = nil }, "red"),
	)

	It("not by what only looks alike, and never by a RoleBinding", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		for _, short := range []string{"blue", "last"} {
			f.UnboundSet(ctx, short)
		}

		for short, change := range map[string]func(*rbacv1.PolicyRule){
			"verb": func(r *rbacv1.PolicyRule) {
				r.Verbs = []string{"get", "list", "watch", "update", "patch", "delete", "bind"}
			},
			"group": func(r *rbacv1.PolicyRule) { r.APIGroups = []string{"", "placement.open-cluster-management.io"} },
			"resource": func(r *rbacv1.PolicyRule) {
				r.Resources = []string{"managedclustersets", "managedclustersets/*", "*/join", "*/*"}
			},
			"name": func(r *rbacv1.PolicyRule) { r.ResourceNames = []string{"*", "blue", f.Name("blu")} },
		} {
			rule := bindRule()
			change(&rule)
			f.role(ctx, short, rule)
			f.grant(ctx, short, accountOf(f.Namespace))
		}

		f.role(ctx, "all", bindRule())
		f.grant(ctx, "all", userNamed("placement"), userNamed("*"), groupNamed("*"), groupNamed("system:unauthenticated"),
			groupNamed("system:serviceaccounts:"), userNamed("system:serviceaccount:"+f.Namespace+":default"),
			rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: f.Namespace, Name: "default"})
		reference := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: f.Name("all")}
		f.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "bait"}, RoleRef: reference,
			Subjects: []rbacv1.Subject{accountOf(f.Namespace), groupNamed("system:authenticated")},
		})
		f.Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "bait"}, Rules: []rbacv1.PolicyRule{bindRule()}})

		reference.Kind, reference.Name = "Role", "bait"
		f.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "bait2"}, RoleRef: reference,
			Subjects: []rbacv1.Subject{accountOf(f.Namespace)},
		})
		f.role(ctx, "last", bindRule(f.Name("last")))
		f.grant(ctx, "last", accountOf(f.Namespace))
		f.expectBound(ctx, f.Namespace, "last")

		f.another(ctx, "without")
		f.grantTo(ctx, "everyone", "last", groupNamed("system:serviceaccounts"))
		f.account(ctx, f.another(ctx, "with"))
		f.expectBound(ctx, f.Name("with"), "last")
		f.expectBound(ctx, f.Name("without"))
		f.expectBound(ctx, f.Namespace, "last")
	})

	It("by an aggregated role, as it aggregates", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.UnboundSet(ctx, "red")

		aggregate := map[string]string{f.Name("aggregate"): "true"}
		f.Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta:      metav1.ObjectMeta{Name: f.Name("whole")},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: aggregate}}},
		})
		f.grant(ctx, "whole", accountOf(f.Namespace))
		f.Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: f.Name("part1"), Labels: map[string]string{f.Name("aggregate"): "true"}},
			Rules:      []rbacv1.PolicyRule{bindRule(f.Name("blue"))},
		})
		f.expectBound(ctx, f.Namespace, "blue")

		part := f.role(ctx, "part2", bindRule(f.Name("red")))
		suite.Edit(ctx, part, func(r *rbacv1.ClusterRole) { r.Labels[f.Name("aggregate")] = "true" })
		f.expectBound(ctx, f.Namespace, "blue", "red")

		Expect(suite.Client.Delete(ctx, part)).To(Succeed())
		f.expectBound(ctx, f.Namespace, "blue")
	})

	It("every set, also one that is created later, by a rule without names", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.role(ctx, "all", bindRule())
		f.grant(ctx, "all", accountOf(f.Namespace))
		f.expectBound(ctx, f.Namespace, "blue")
		Eventually(func(g Gomega) map[string]clusterv1beta2.ManagedClusterSetBinding {
			return f.bindings(ctx, g, f.Namespace)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(And(HaveKey("default"), HaveKey("global")))
		red := f.UnboundSet(ctx, "red")
		f.expectBound(ctx, f.Namespace, "blue", "red")
		Expect(suite.Client.Delete(ctx, red)).To(Succeed())
		f.expectBound(ctx, f.Namespace, "blue")
	})

	It("by all rules of all roles together, and follows each of them", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		for _, short := range []string{"blue", "green", "red"} {
			f.UnboundSet(ctx, short)
		}

		role := f.role(ctx, "first", bindRule(f.Name("blue")), rbacv1.PolicyRule{
			Verbs: []string{"get"}, APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclustersets"},
		})
		f.grant(ctx, "first", accountOf(f.Namespace))
		f.role(ctx, "second", bindRule(f.Name("blue"), f.Name("red")))
		second := f.grant(ctx, "second", userNamed("alice"))
		f.expectBound(ctx, f.Namespace, "blue")

		suite.Edit(ctx, second, func(b *rbacv1.ClusterRoleBinding) { b.Subjects = append(b.Subjects, accountOf(f.Namespace)) })
		f.expectBound(ctx, f.Namespace, "blue", "red")

		suite.Edit(ctx, role, func(r *rbacv1.ClusterRole) { r.Rules[0].ResourceNames = f.Names("green") })
		f.expectBound(ctx, f.Namespace, "blue", "green", "red")

		suite.Edit(ctx, second, func(b *rbacv1.ClusterRoleBinding) { b.Subjects = b.Subjects[:1] })
		f.expectBound(ctx, f.Namespace, "green")

		Expect(suite.Client.Delete(ctx, role)).To(Succeed())
		f.expectBound(ctx, f.Namespace)

		f.role(ctx, "first", bindRule(f.Name("red")))
		f.expectBound(ctx, f.Namespace, "red")
	})
})
