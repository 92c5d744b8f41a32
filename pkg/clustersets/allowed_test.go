// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

func roleBinding(role string, subjects ...rbacv1.Subject) rbacv1.ClusterRoleBinding {
	return rbacv1.ClusterRoleBinding{RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects}
}

func role(name string, rules ...rbacv1.PolicyRule) rbacv1.ClusterRole {
	return rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func TestAllowed(t *testing.T) {
	grants := GrantsOf([]rbacv1.ClusterRole{
		role("blue", binding("blue")), role("red", binding("red")), role("all", binding()), role("none"),
	})
	for _, tc := range []struct {
		reason   string
		bindings []rbacv1.ClusterRoleBinding
		want     Grant
	}{
		{"nothing is bound", nil, Grant{}},
		{"one role", []rbacv1.ClusterRoleBinding{roleBinding("blue", account("a", Account))}, Grant{Sets: sets.New("blue")}},
		{"two roles, by two forms of the subject", []rbacv1.ClusterRoleBinding{
			roleBinding("blue", account("a", Account)), roleBinding("red", members("system:serviceaccounts:a")),
		}, Grant{Sets: sets.New("blue", "red")}},
		{"a role of everyone", []rbacv1.ClusterRoleBinding{
			roleBinding("blue", account("a", Account)), roleBinding("all", members("system:authenticated")),
		}, Grant{All: true}},
		{"another namespace's", []rbacv1.ClusterRoleBinding{roleBinding("all", account("b", Account))}, Grant{}},
		{"an empty subject is nobody", []rbacv1.ClusterRoleBinding{roleBinding("all", user(""), account("", Account))}, Grant{}},
		{"S11: a role that is gone", []rbacv1.ClusterRoleBinding{roleBinding("green", account("a", Account))}, Grant{}},
		{"a role without such a rule", []rbacv1.ClusterRoleBinding{roleBinding("none", account("a", Account))}, Grant{}},
		{"what is no ClusterRole grants nothing", []rbacv1.ClusterRoleBinding{{
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "all"}, Subjects: []rbacv1.Subject{account("a", Account)},
		}}, Grant{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := Allowed("a", tc.bindings, grants); !got.Equal(tc.want) {
				t.Errorf("Allowed = %v; want %v", got, tc.want)
			}
		})
	}
}
