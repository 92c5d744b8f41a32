// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/property"
)

const (
	randomRuns  = 3
	randomSteps = 12
)

// randomRBAC is a fixture of which anything may change.
type randomRBAC struct {
	*rbacFixture

	random           *rand.Rand
	namespaces, sets []string // full names
	took             []string // what was done, for the reader of a failure
	bound, unbound   int      // how many pairs of a namespace and a set were seen bound, and how many not
}

var _ = Describe("Bindings over random RBAC", func() {
	It("are what the API server's own reviews allow, never one more and never one less", func(ctx SpecContext) {
		random := property.Random(GinkgoTB())
		bound, unbound := 0, 0
		for range randomRuns {
			w := newRandomRBAC(ctx, random)
			w.expectReviewed(ctx)
			for range randomSteps {
				w.step(ctx)
				w.expectReviewed(ctx)
			}
			w.expectTokenAgrees(ctx)
			w.clear(ctx)
			bound, unbound = bound+w.bound, unbound+w.unbound
		}

		Expect(min(bound, unbound)).To(BeNumerically(">", randomRuns*randomSteps/2), "%d bindings were there and %d were not", bound, unbound)
	})
})

func newRandomRBAC(ctx context.Context, random *rand.Rand) *randomRBAC {
	GinkgoHelper()
	w := &randomRBAC{rbacFixture: newRBACFixture(ctx), random: random}
	w.namespaces = []string{w.Namespace}
	for _, short := range []string{"b", "placement"} {
		namespace := w.another(ctx, short)
		w.namespaces = append(w.namespaces, namespace)
		w.account(ctx, namespace)
	}

	for _, short := range []string{"blue", "green", "red"} {
		w.sets = append(w.sets, w.UnboundSet(ctx, short).Name)
	}
	w.Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: w.roleName(0)},
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
			{MatchLabels: map[string]string{suite.FixtureLabel: w.Namespace, "aggregate": "true"}},
		}},
	})

	for n := range 4 {
		w.changeRole(ctx, n, false)
		w.changeBinding(ctx, n, false)
	}
	return w
}

func (rbac *randomRBAC) roleName(i int) string { return rbac.Name("role" + strconv.Itoa(i)) }

// step does one of the things that can change who may bind what. Not everything that is drawn makes a difference.
func (rbac *randomRBAC) step(ctx context.Context) {
	GinkgoHelper()
	n := rbac.random.IntN(4)
	switch kind := rbac.random.IntN(12); kind {
	case 0, 1, 2:
		rbac.changeRole(ctx, n, kind == 0)
	case 3, 4, 5, 6, 7:
		rbac.changeBinding(ctx, n, kind == 3)
	case 8:
		rbac.toggle(ctx, false, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: suite.Pick(rbac.random, rbac.namespaces...), Name: "bait"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: rbac.roleName(n)},
			Subjects:   append(suite.Some(rbac.random, 3, rbac.subject), groupNamed("system:authenticated")),
		})
	case 9:
		rbac.toggle(ctx, false, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: suite.Pick(rbac.random, rbac.namespaces...), Name: rbac.roleName(n)},
			Rules:      suite.Some(rbac.random, 2, rbac.rule),
		})
	case 10:
		rbac.toggle(ctx, rbac.random.IntN(2) == 0, &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Namespace: suite.Pick(rbac.random, rbac.namespaces...), Name: clustersets.Account},
		})
	case 11:
		rbac.toggle(ctx, rbac.random.IntN(2) == 0, &clusterv1beta2.ManagedClusterSet{
			ObjectMeta: metav1.ObjectMeta{Name: suite.Pick(rbac.random, rbac.sets...)},
		})
	}
}

// changeRole leaves the role 0 as it is: it is the aggregated one, whose rules are made by the API server's controllers.
func (rbac *randomRBAC) changeRole(ctx context.Context, n int, absent bool) {
	GinkgoHelper()
	rbac.toggle(ctx, absent, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name: rbac.roleName(max(n, 1)), Labels: map[string]string{"aggregate": suite.Pick(rbac.random, "true", "false")},
		},
		Rules: append(suite.Some(rbac.random, 2, rbac.rule), rbac.rule(rbac.random)),
	})
}

func (rbac *randomRBAC) changeBinding(ctx context.Context, n int, absent bool) {
	GinkgoHelper()
	rbac.toggle(ctx, absent, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: rbac.Name("binding" + strconv.Itoa(n))},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: rbac.roleName(rbac.random.IntN(4))},
		Subjects:   append(suite.Some(rbac.random, 3, rbac.subject), rbac.subject(rbac.random)),
	})
}

// toggle makes an object be as given, or not be. What is there already is changed, unless it cannot be: then it is made again.
func (rbac *randomRBAC) toggle(ctx context.Context, absent bool, object client.Object) {
	GinkgoHelper()
	rbac.took = append(rbac.took, fmt.Sprintf("%T %s/%s absent=%v %v", object, object.GetNamespace(), object.GetName(), absent, object))
	labels := object.GetLabels()

	old := object.DeepCopyObject().(client.Object)

	err := suite.Client.Get(ctx, client.ObjectKeyFromObject(object), old)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	switch role, isRole := object.(*rbacv1.ClusterRole); {
	case err == nil && isRole && !absent:
		suite.Edit(ctx, role, func(r *rbacv1.ClusterRole) {
			r.Rules = role.Rules
			r.Labels["aggregate"] = labels["aggregate"]
		})
		return
	case err == nil:
		Expect(suite.Client.Delete(ctx, old)).To(Succeed())
	}

	if !absent {
		rbac.Create(ctx, object)
	}
}

func (rbac *randomRBAC) rule(random *rand.Rand) rbacv1.PolicyRule {
	names := slices.Concat(rbac.sets, []string{"*", "default", "blue", ""})
	return rbacv1.PolicyRule{
		Verbs:     suite.Pick(random, []string{"create"}, []string{"*"}, []string{"get", "create"}, []string{"create"}, []string{"get", "bind"}),
		APIGroups: suite.Pick(random, []string{clusterv1.GroupName}, []string{"*"}, []string{clusterv1.GroupName, ""}, []string{"apps"}),
		Resources: suite.Pick(random, []string{"managedclustersets/bind"}, []string{"managedclustersets/bind"}, []string{"*/bind"}, []string{"*"},
			[]string{"managedclustersets", "managedclustersets/*", "*/*"}, []string{"managedclustersets/join", "managedclustersets/bind"}),
		ResourceNames: suite.Pick(random,
			nil, []string{suite.Pick(random, names...)}, []string{suite.Pick(random, names...), suite.Pick(random, names...)}),
	}
}

func (rbac *randomRBAC) subject(random *rand.Rand) rbacv1.Subject {
	namespace := suite.Pick(random, rbac.namespaces...)
	if random.IntN(2) == 0 {
		return suite.Pick(random,
			accountOf(namespace), accountOf(namespace), userNamed("system:serviceaccount:"+namespace+":placement"),
			groupNamed("system:serviceaccounts:"+namespace), groupNamed("system:serviceaccounts"), groupNamed("system:authenticated"))
	}
	return suite.Pick(random, // Those that look alike.
		rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"},
		userNamed("system:serviceaccounts:"+namespace), groupNamed("system:serviceaccount:"+namespace+":placement"),
		userNamed("placement"), userNamed("*"), groupNamed("*"), groupNamed("system:unauthenticated"), groupNamed("system:serviceaccounts:"),
		groupNamed("system:serviceaccounts:"+namespace+":placement"), userNamed("system:serviceaccount:"+namespace+":placement2"),
	)
}

// expectReviewed waits until the bindings, what scope.Allowed says of the roles as they are, and the reviews of the API server agree on
// every namespace and every set that there is.
func (rbac *randomRBAC) expectReviewed(ctx context.Context) {
	GinkgoHelper()
	var bound, unbound int
	Eventually(func(g Gomega) {
		bound, unbound = 0, 0
		sets, roles, bindings := &clusterv1beta2.ManagedClusterSetList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}
		accounts := &corev1.ServiceAccountList{}
		for _, list := range []client.ObjectList{sets, roles, bindings, accounts} {
			g.Expect(suite.Client.List(ctx, list)).To(Succeed())
		}

		for _, namespace := range rbac.namespaces {
			grant := clustersets.Allowed(namespace, bindings.Items, clustersets.GrantsOf(roles.Items))
			hasAccount := slices.ContainsFunc(accounts.Items, func(a corev1.ServiceAccount) bool {
				return a.Namespace == namespace && a.Name == clustersets.Account
			})
			existing := rbac.bindings(ctx, g, namespace)
			var allowed []string

			for _, set := range sets.Items {
				reviewed := review(ctx, g, namespace, set.Name)
				g.Expect(grant.Contains(set.Name)).To(Equal(reviewed), "scope.Allowed: account of %s and set %s", namespace, set.Name)
				if reviewed && hasAccount {
					allowed = append(allowed, set.Name)
				}
			}
			g.Expect(slices.Collect(maps.Keys(existing))).To(ConsistOf(allowed), "bindings of %s", namespace)
			bound, unbound = bound+len(allowed), unbound+len(sets.Items)-len(allowed)
		}
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), func() string { return fmt.Sprintf("after %q", rbac.took) })

	rbac.bound, rbac.unbound = rbac.bound+bound, rbac.unbound+unbound
}

// expectTokenAgrees has an account ask for itself, by a token of its own.
func (rbac *randomRBAC) expectTokenAgrees(ctx context.Context) {
	GinkgoHelper()
	rbac.toggle(ctx, false, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: rbac.Namespace, Name: clustersets.Account}})
	rbac.expectReviewed(ctx)
	config, err := suite.ControlPlane.ServiceAccountConfig(ctx, rbac.Namespace, clustersets.Account)
	Expect(err).NotTo(HaveOccurred())
	self, err := client.New(config, client.Options{Scheme: system.Scheme(), Mapper: suite.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())

	bound := rbac.bindings(ctx, Default, rbac.Namespace)
	for _, set := range slices.Concat(rbac.sets, []string{"default", "global"}) {
		review := &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: bindAttributes(set)},
		}
		Expect(self.Create(ctx, review)).To(Succeed())
		missing := suite.Client.Get(ctx, client.ObjectKey{Name: set}, &clusterv1beta2.ManagedClusterSet{})
		Expect(client.IgnoreNotFound(missing)).To(Succeed())
		if missing == nil {
			_, isBound := bound[set]
			Expect(review.Status.Allowed).To(Equal(isBound), "set %s", set)
		}
	}
}

// clear deletes the roles and their bindings, which would bind the namespaces of the next run.
func (rbac *randomRBAC) clear(ctx context.Context) {
	GinkgoHelper()
	mine := client.MatchingLabels{suite.FixtureLabel: rbac.Namespace}
	Expect(suite.Client.DeleteAllOf(ctx, &rbacv1.ClusterRoleBinding{}, mine)).To(Succeed())
	Expect(suite.Client.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSet{}, mine)).To(Succeed())
	rbac.expectReviewed(ctx)
}
