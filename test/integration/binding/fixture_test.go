// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// rbacFixture is a fixture whose namespaces are bound by the rights of their accounts.
type rbacFixture struct {
	*suite.Fixture
}

// newRBACFixture makes a fixture with an account in its namespace, and drops its roles and their bindings after the spec.
func newRBACFixture(ctx context.Context) *rbacFixture {
	GinkgoHelper()
	f := &rbacFixture{Fixture: suite.NewFixture(ctx)}
	f.account(ctx, f.Namespace)
	DeferCleanup(f.revokeAll)
	return f
}

// revokeAll deletes the roles of this fixture and their bindings.
func (f *rbacFixture) revokeAll(ctx SpecContext) {
	mine := client.MatchingLabels{suite.FixtureLabel: f.Namespace}
	Expect(suite.Client.DeleteAllOf(ctx, &rbacv1.ClusterRoleBinding{}, mine)).To(Succeed())
	Expect(suite.Client.DeleteAllOf(ctx, &rbacv1.ClusterRole{}, mine)).To(Succeed())
}

// another makes one more namespace.
func (f *rbacFixture) another(ctx context.Context, short string) string {
	GinkgoHelper()
	f.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}})
	return f.Name(short)
}

// account makes the account of a namespace.
func (f *rbacFixture) account(ctx context.Context, namespace string) {
	GinkgoHelper()
	f.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: clustersets.Account}})
}

// bindRule lets a role bind sets by their full names, or every set.
func bindRule(names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		Verbs: []string{"create"}, APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclustersets/bind"}, ResourceNames: names,
	}
}

func (f *rbacFixture) role(ctx context.Context, short string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}, Rules: rules}
	f.Create(ctx, role)
	return role
}

// grant binds a role of this fixture, under the role's name.
func (f *rbacFixture) grant(ctx context.Context, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	GinkgoHelper()
	return f.grantTo(ctx, role, role, subjects...)
}

// grantTo binds a role of this fixture, under another name.
func (f *rbacFixture) grantTo(ctx context.Context, short, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	GinkgoHelper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: f.Name(role)},
		Subjects:   subjects,
	}
	f.Create(ctx, binding)
	return binding
}

// Subjects of each kind, and the account of a namespace as such.
func accountOf(namespace string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: clustersets.Account}
}

func userNamed(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
}

func groupNamed(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: name}
}

// bindings are those of a namespace by the names of their sets.
func (f *rbacFixture) bindings(ctx context.Context, g Gomega, namespace string) map[string]clusterv1beta2.ManagedClusterSetBinding {
	list := &clusterv1beta2.ManagedClusterSetBindingList{}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	found := map[string]clusterv1beta2.ManagedClusterSetBinding{}
	for _, binding := range list.Items {
		found[binding.Name] = binding
	}
	return found
}

// bound are the short names of the sets of this fixture that a namespace is bound to, by bindings as the hub makes them.
func (f *rbacFixture) bound(ctx context.Context, g Gomega, namespace string) []string {
	shorts := []string{}
	for _, name := range slices.Sorted(maps.Keys(f.bindings(ctx, g, namespace))) {
		if strings.HasPrefix(name, f.Name("")) {
			shorts = append(shorts, f.ShortName(name))
		}
	}
	return shorts
}

func (f *rbacFixture) expectBound(ctx context.Context, namespace string, shorts ...string) {
	GinkgoHelper()
	if shorts == nil {
		shorts = []string{}
	}
	Eventually(func(g Gomega) []string { return f.bound(ctx, g, namespace) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(shorts), "sets that %s is bound to", namespace)
	for name, binding := range f.bindings(ctx, Default, namespace) {
		Expect(binding.Spec.ClusterSet).To(Equal(name))
		Expect(binding.Labels).To(HaveKeyWithValue("placement.open-cluster-management.io/managed-by", "clustersetbinding-rbac"))
	}
}

// bindingWrites are the requests of the hub that make, change or delete a binding in the namespaces asked for; of the condition of a
// binding there is none among them.
func bindingWrites(g Gomega, in func(namespace string) bool) []string {
	return slices.DeleteFunc(suite.HubWrites(g, in), func(write string) bool {
		return !strings.Contains(write, " managedclustersetbindings") || strings.HasSuffix(write, "/status")
	})
}

// review is what the API server answers when it is asked whether the account of a namespace may bind a set.
func review(ctx context.Context, g Gomega, namespace, set string) bool {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               serviceaccount.MakeUsername(namespace, clustersets.Account),
		Groups:             append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated),
		ResourceAttributes: bindAttributes(set),
	}}
	g.Expect(suite.Client.Create(ctx, review)).To(Succeed())
	return review.Status.Allowed
}

func bindAttributes(set string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Verb: "create", Group: clusterv1.GroupName, Resource: "managedclustersets", Subresource: "bind", Name: set,
	}
}
