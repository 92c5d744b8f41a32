// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

func TestChangesConcernNamespaces(t *testing.T) {
	r, _ := fixture(t, interceptor.Funcs{}) // A role "role" there is bound to the account of namespace a.
	ctx := t.Context()
	dying := metav1.ObjectMeta{Namespace: "a", Name: clustersets.Account, DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}

	account := func(name string) *corev1.ServiceAccount {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
	}
	binding := func(role string, namespaces ...string) *rbacv1.ClusterRoleBinding {
		b := &rbacv1.ClusterRoleBinding{RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}}
		for _, namespace := range namespaces {
			b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: clustersets.Account})
		}
		return b
	}
	role := func(names ...string) *rbacv1.ClusterRole {
		rule := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ResourceNames: names}
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role"}, Rules: []rbacv1.PolicyRule{rule}}
	}
	powerless := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role"}}
	foreign := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "unbound"}, Rules: role().Rules}
	set := &clusterv1beta2.ManagedClusterSet{}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	dyingNamespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", DeletionTimestamp: dying.DeletionTimestamp}}

	mine, labelled, conditioned, moved, gone, foreignBinding := fromRBAC("blue"), fromRBAC("blue"), fromRBAC("blue"), fromRBAC("blue", edited),
		fromRBAC("blue", handedOver), fromRBAC("blue", byHand)
	labelled.Labels["example.com/a"] = "b"
	conditioned.Status.Conditions = []metav1.Condition{{Type: "Bound"}}
	none := clustersets.Audience{}
	a, everyone := namespaceAudience("a"), clustersets.Audience{Everyone: true}
	for _, tc := range []struct {
		reason    string
		got, want clustersets.Audience
	}{
		{"an account comes", r.accountChange(ctx, nil, account(clustersets.Account)), a},
		{"an account goes", r.accountChange(ctx, account(clustersets.Account), nil), a},
		{"an account is being deleted", r.accountChange(ctx, account(clustersets.Account), &corev1.ServiceAccount{ObjectMeta: dying}), a},
		{"an account is edited", r.accountChange(ctx, account(clustersets.Account), account(clustersets.Account)), none},
		{"another account", r.accountChange(ctx, nil, account("default")), none},

		{
			"a role binding comes", r.clusterRoleBindingChange(ctx, nil, binding("role", "a", "b")),
			clustersets.Audience{Namespaces: sets.New("a", "b")},
		},
		{"a role binding goes", r.clusterRoleBindingChange(ctx, binding("role", "a"), nil), a},
		{"a role binding gets a subject", r.clusterRoleBindingChange(ctx, binding("role", "b"), binding("role", "b", "a")), a},
		{"a role binding is edited elsewhere", r.clusterRoleBindingChange(ctx, binding("role", "a"), binding("role", "a")), none},
		{"a role binding is made again for another role", r.clusterRoleBindingChange(ctx, binding("role", "a"), binding("other", "a")), a},

		{"a role comes", r.clusterRoleChange(ctx, nil, role()), a},
		{"a role goes", r.clusterRoleChange(ctx, role(), nil), a},
		{"a role grants something else", r.clusterRoleChange(ctx, role("blue"), role("red")), a},
		{"a role grants the same in other words", r.clusterRoleChange(ctx, role("blue", "red"), role("red", "blue", "red")), none},
		{"a role that grants nothing comes", r.clusterRoleChange(ctx, nil, powerless), none},
		{"a role that grants nothing goes", r.clusterRoleChange(ctx, powerless, nil), none},
		{"a role that nobody has", r.clusterRoleChange(ctx, nil, foreign), none},

		{"a set comes", r.setChange(ctx, nil, set), everyone},
		{"a set goes", r.setChange(ctx, set, nil), everyone},
		{"a set changes", r.setChange(ctx, set, set), none},

		{"a namespace comes", r.namespaceChange(ctx, nil, namespace), a},
		{"a namespace goes", r.namespaceChange(ctx, namespace, nil), a},
		{"a namespace is being deleted", r.namespaceChange(ctx, namespace, dyingNamespace), a},
		{"a namespace changes", r.namespaceChange(ctx, namespace, namespace), none},

		{"our binding comes", r.bindingChange(ctx, nil, &mine), a},
		{"our binding goes", r.bindingChange(ctx, &mine, nil), a},
		{"our binding is edited", r.bindingChange(ctx, &mine, &moved), a},
		{"our binding gets a condition", r.bindingChange(ctx, &mine, &conditioned), none},
		{"our binding gets a label", r.bindingChange(ctx, &mine, &labelled), none},
		{"our binding is handed over", r.bindingChange(ctx, &mine, &gone), a},
		{"our binding is handed back", r.bindingChange(ctx, &gone, &mine), a},
		{"another binding comes", r.bindingChange(ctx, nil, &foreignBinding), none},
		{"another binding is edited", r.bindingChange(ctx, &foreignBinding, &gone), none},
		{"another binding goes, and ours can come", r.bindingChange(ctx, &foreignBinding, nil), a},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if tc.got.Everyone != tc.want.Everyone || !tc.got.Namespaces.Equal(tc.want.Namespaces) {
				t.Errorf("concerns %v, want %v", tc.got, tc.want)
			}
		})
	}
}
