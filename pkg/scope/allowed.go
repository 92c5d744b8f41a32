package scope

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// clusterRole is the kind of role that a ClusterRoleBinding refers to; the API server admits no other.
const clusterRole = "ClusterRole"

// GrantOf returns what the ClusterRole of a name grants; the zero Grant when there is no such role.
type GrantOf func(role string) Grant

// Allowed is the sets that the account of a namespace may bind. Of the ClusterRoleBindings those count that have the account among their
// subjects; the others may be left out.
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

// RoleOf is the name of the ClusterRole that a ClusterRoleBinding refers to; refers is false when it refers to something else, which
// grants nothing.
func RoleOf(binding *rbacv1.ClusterRoleBinding) (name string, refers bool) {
	return binding.RoleRef.Name, binding.RoleRef.Kind == clusterRole
}

// GrantsOf answers from a list of ClusterRoles.
func GrantsOf(roles []rbacv1.ClusterRole) GrantOf {
	grants := make(map[string]Grant, len(roles))
	for i := range roles {
		grants[roles[i].Name] = OfRules(roles[i].Rules)
	}

	return func(role string) Grant { return grants[role] }
}
