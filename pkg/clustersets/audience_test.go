// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

func user(name string) rbacv1.Subject    { return rbacv1.Subject{Kind: "User", Name: name} }
func members(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "Group", Name: name} }

func account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

func namespaces(names ...string) Audience { return Audience{Namespaces: sets.New(names...)} }

func same(a, b Audience) bool { return a.Everyone == b.Everyone && a.Namespaces.Equal(b.Namespaces) }

func TestAudienceOf(t *testing.T) {
	everyone := Audience{Everyone: true}
	for _, tc := range []struct {
		reason   string
		subjects []rbacv1.Subject
		want     Audience
	}{
		{"S7: the ServiceAccount itself", []rbacv1.Subject{account("a", "placement")}, namespaces("a")},
		{"S7: the user", []rbacv1.Subject{user("system:serviceaccount:a:placement")}, namespaces("a")},
		{"S7: the group of a namespace", []rbacv1.Subject{members("system:serviceaccounts:a")}, namespaces("a")},
		{"S7: all service accounts", []rbacv1.Subject{members("system:serviceaccounts")}, everyone},
		{"S7: everybody with a name", []rbacv1.Subject{members("system:authenticated")}, everyone},
		{"subjects add up", []rbacv1.Subject{account("a", "placement"), user("alice"), members("system:serviceaccounts:b")}, namespaces("a", "b")},
		{"single ones beside everyone", []rbacv1.Subject{account("a", "placement"), members("system:authenticated")},
			Audience{Everyone: true, Namespaces: sets.New("a")}},
		{"namespaces that are called like parts of the names", []rbacv1.Subject{
			user("system:serviceaccount:placement:placement"), members("system:serviceaccounts:system"),
		}, namespaces("placement", "system")},

		{"nobody", nil, Audience{}},
		{"other accounts", []rbacv1.Subject{account("a", "default"), account("a", "placement2"), account("a", "Placement")}, Audience{}},
		{"an account without a namespace is nobody", []rbacv1.Subject{account("", "placement")}, Audience{}},
		{"users that look alike", []rbacv1.Subject{
			user("system:serviceaccount:a:default"), user("system:serviceaccount:a:placement:x"), user("system:serviceaccount::placement"),
			user("system:serviceaccount:placement"), user("system:serviceaccount:a:b:placement"), user("system:serviceaccounts:a:placement"),
			user("a:placement"), user("placement"), user("*"), user(" system:serviceaccount:a:placement"), user("system:serviceaccount:a: placement"),
		}, Audience{}},
		{"groups that look alike", []rbacv1.Subject{
			members("system:serviceaccounts:"), members("system:serviceaccounts:a:b"), members("system:serviceaccount:a"), members("*"),
			members("system:unauthenticated"), members("system:masters"), members("system:serviceaccount"), members("System:Authenticated"),
		}, Audience{}},
		{"a user is no group and the other way round", []rbacv1.Subject{
			user("system:serviceaccounts:a"), user("system:authenticated"), members("system:serviceaccount:a:placement"),
		}, Audience{}},
		{"kinds that there are not", []rbacv1.Subject{
			{Kind: "serviceaccount", Namespace: "a", Name: "placement"}, {Kind: "", Namespace: "a", Name: "placement"},
			{Kind: "Placement", Name: "system:authenticated"},
		}, Audience{}},
		{"the namespace of a user or a group is nothing", []rbacv1.Subject{
			{Kind: "User", Namespace: "a", Name: "placement"}, {Kind: "Group", Namespace: "a", Name: "system:serviceaccounts:b"},
		}, namespaces("b")},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := AudienceOf(tc.subjects)
			if !same(got, tc.want) || got.Empty() != tc.want.Empty() {
				t.Errorf("AudienceOf = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAudienceAlgebra(t *testing.T) {
	everyone := Audience{Everyone: true}
	for _, tc := range []struct {
		reason            string
		a, b              Audience
		union, difference Audience
	}{
		{"nobody and nobody", Audience{}, Audience{}, Audience{}, Audience{}},
		{"one comes", Audience{}, namespaces("a"), namespaces("a"), namespaces("a")},
		{"one comes, one stays, one goes", namespaces("a", "b"), namespaces("b", "c"), namespaces("a", "b", "c"), namespaces("a", "c")},
		{"everyone comes", namespaces("a"), everyone, Audience{Everyone: true, Namespaces: sets.New("a")}, everyone},
		{"everyone stays, so it changes nothing for one", everyone, Audience{Everyone: true, Namespaces: sets.New("a")},
			Audience{Everyone: true, Namespaces: sets.New("a")}, Audience{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			for _, order := range [][2]Audience{{tc.a, tc.b}, {tc.b, tc.a}} {
				if got := order[0].Union(order[1]); !same(got, tc.union) {
					t.Errorf("Union = %v, want %v", got, tc.union)
				}
				if got := order[0].Difference(order[1]); !same(got, tc.difference) {
					t.Errorf("Difference = %v, want %v", got, tc.difference)
				}
			}
		})
	}
}

func TestManaged(t *testing.T) {
	ours := map[string]string{ManagedByLabel: Manager}
	for _, tc := range []struct {
		reason  string
		binding metav1.ObjectMeta
		want    bool
	}{
		{"ours", metav1.ObjectMeta{Labels: ours}, true},
		{"S12: no such label", metav1.ObjectMeta{}, false},
		{"somebody else's", metav1.ObjectMeta{Labels: map[string]string{ManagedByLabel: "argocd"}}, false},
		{"an annotation is not the label", metav1.ObjectMeta{Annotations: ours}, false},
		{"handed over by label", metav1.ObjectMeta{Labels: map[string]string{ManagedByLabel: Manager, UnmanagedKey: "true"}}, false},
		{"handed over by annotation", metav1.ObjectMeta{Labels: ours, Annotations: map[string]string{UnmanagedKey: "true"}}, false},
		{"only true hands over", metav1.ObjectMeta{Labels: ours, Annotations: map[string]string{UnmanagedKey: "false"}}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := Managed(&tc.binding); got != tc.want {
				t.Errorf("Managed = %v, want %v", got, tc.want)
			}
		})
	}
}
