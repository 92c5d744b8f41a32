// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AwaitRoles waits until the authorizer of the API server knows all roles and bindings that were made so far. It has a watch of each kind, and hubs
// remember a refusal for seconds. Objects of each kind that are made now are known last.
func (h *Hub) AwaitRoles(t *testing.T) {
	t.Helper()
	everywhere := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "mark-"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}},
	}
	Must(t, h.Client.Create(t.Context(), everywhere))
	user := everywhere.Name
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	here := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: user}
	marks := []client.Object{
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		},
		&rbacv1.Role{
			ObjectMeta: here, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: here, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		},
	}
	for _, mark := range marks {
		Must(t, h.Client.Create(t.Context(), mark))
	}
	Eventually(t, "waiting until the API server knows the roles", func() error {
		for _, right := range []authorizationv1.ResourceAttributes{
			{Verb: "get", Resource: "nodes"}, {Verb: "get", Resource: "configmaps", Namespace: metav1.NamespaceDefault},
		} {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right}}
			if err := h.Client.Create(t.Context(), review); err != nil {
				return err
			}
			if !review.Status.Allowed {
				return fmt.Errorf("%s may not get %s yet: %s", user, right.Resource, review.Status.Reason)
			}
		}
		return nil
	})
	for _, mark := range append(marks, everywhere) {
		Must(t, h.Client.Delete(t.Context(), mark))
	}
}
