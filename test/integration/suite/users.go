// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
)

// Impersonating returns the configuration of an admin who speaks for a user with these groups and that of authenticated users.
func Impersonating(name string, groups ...string) *rest.Config {
	config := ControlPlane.AdminConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: append(slices.Clone(groups), user.AllAuthenticated)}
	return config
}

// ClientOf returns a client that reads from the API server.
func ClientOf(config *rest.Config) client.Client {
	GinkgoHelper()
	api, err := client.New(config, client.Options{Scheme: system.Scheme(), Mapper: Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return api
}

// As returns a client of a user with these groups and that of authenticated users.
func As(name string, groups ...string) client.Client {
	GinkgoHelper()
	return ClientOf(Impersonating(name, groups...))
}

// Allow gives a user rights in a namespace, or everywhere if it is empty, until the spec or container ends, and waits until the API server
// knows of them.
func Allow(ctx context.Context, namespace, name string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role"}
	var role client.Object = &rbacv1.Role{ObjectMeta: meta, Rules: rules}
	if namespace == "" {
		ref.Kind, role = "ClusterRole", &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
	}
	createForNow(ctx, role)
	ref.Name = role.GetName()
	bind(ctx, namespace, ref, rules, name)
}

// Bind gives users the rights of a ClusterRole in a namespace, or everywhere if it is empty, until the spec or container ends, and waits until
// the API server knows of them. It returns the binding.
func Bind(ctx context.Context, namespace, clusterRole string, names ...string) client.Object {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(Client.Get(ctx, client.ObjectKey{Name: clusterRole}, role)).To(Succeed())
	return bind(ctx, namespace, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole}, role.Rules, names...)
}

func bind(ctx context.Context, namespace string, ref rbacv1.RoleRef, rules []rbacv1.PolicyRule, names ...string) client.Object {
	GinkgoHelper()
	subjects := make([]rbacv1.Subject, 0, len(names))
	for _, name := range names {
		subjects = append(subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name})
	}
	meta := metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"}
	var binding client.Object = &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}
	if namespace == "" {
		binding = &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}
	}

	createForNow(ctx, binding)
	for _, name := range names {
		AwaitRights(ctx, As(name), namespace, rules...)
	}
	return binding
}

// createForNow creates an object and deletes it after the spec or container, if it is still there.
func createForNow(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(Client.Create(ctx, object)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The spec's own is over then.
		Expect(client.IgnoreNotFound(Client.Delete(ctx, object))).To(Succeed())
	})
}

// AwaitRights waits until the API server, whose authorizer learns of bindings by a watch, lets a user have the rights about resources in a
// namespace, or everywhere if it is empty.
func AwaitRights(ctx context.Context, api client.Client, namespace string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}

	Eventually(func(g Gomega) {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
		g.Expect(api.Create(ctx, review)).To(Succeed())
		for _, rule := range rules {
			right := authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			}
			known := func(known authorizationv1.ResourceRule) bool { return equality.Semantic.DeepEqual(known, right) }
			g.Expect(len(rule.Resources) == 0 || slices.ContainsFunc(review.Status.ResourceRules, known)).To(BeTrue(), "%+v", right)
		}
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
}
