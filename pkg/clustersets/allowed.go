// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// clusterRole is the kind of the role of a ClusterRoleBinding; the API server admits no other.
const clusterRole = "ClusterRole"

// GrantOf returns the Grant of a ClusterRole by its name; the zero Grant if it does not exist.
type GrantOf func(role string) Grant

// Allowed returns the sets that the account of a namespace may bind. It ignores ClusterRoleBindings without the account among their
// subjects, so callers may omit them.
func Allowed(namespace string, bindings []rbacv1.ClusterRoleBinding, grantOf GrantOf) Grant {
	named := sets.New[string]()
	for i := range bindings {
		role, refers := RoleOf(&bindings[i])
		if !refers || !includesAccount(bindings[i].Subjects, namespace) {
			continue
		}
		grant := grantOf(role)
		if grant.All {
			return grant
		}

		for set := range grant.Sets {
			named.Insert(set)
		}
	}

	return Grant{Sets: named}
}

// RoleOf returns the name of the ClusterRole of a ClusterRoleBinding; refers is false if the binding refers to another kind, which grants
// nothing.
func RoleOf(binding *rbacv1.ClusterRoleBinding) (name string, refers bool) {
	return binding.RoleRef.Name, binding.RoleRef.Kind == clusterRole
}

// GrantsOf returns a GrantOf for a list of ClusterRoles. It is safe for concurrent use.
func GrantsOf(roles []rbacv1.ClusterRole) GrantOf {
	grants := make(map[string]Grant, len(roles))
	for i := range roles {
		grants[roles[i].Name] = OfRules(roles[i].Rules)
	}
	return func(role string) Grant { return grants[role] }
}
