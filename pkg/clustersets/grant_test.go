// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// binding returns a rule that allows to bind the sets with these names; without names, all sets.
func binding(names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		Verbs: []string{"create"}, APIGroups: []string{group}, Resources: []string{"managedclustersets/bind"}, ResourceNames: names,
	}
}

func with(rule rbacv1.PolicyRule, edit func(*rbacv1.PolicyRule)) rbacv1.PolicyRule {
	edit(&rule)
	return rule
}

func TestOfRules(t *testing.T) {
	var (
		none  = Grant{}
		every = Grant{All: true}
		one   = Grant{Sets: sets.New("blue")}
	)

	verbs := func(words ...string) rbacv1.PolicyRule {
		return with(binding("blue"), func(r *rbacv1.PolicyRule) { r.Verbs = words })
	}
	groups := func(words ...string) rbacv1.PolicyRule {
		return with(binding("blue"), func(r *rbacv1.PolicyRule) { r.APIGroups = words })
	}
	resources := func(words ...string) rbacv1.PolicyRule {
		return with(binding("blue"), func(r *rbacv1.PolicyRule) { r.Resources = words })
	}
	for _, tc := range []struct {
		reason string
		rules  []rbacv1.PolicyRule
		want   Grant
	}{
		{"no rule grants nothing", nil, none},
		{"S8: resourceNames", []rbacv1.PolicyRule{binding("blue")}, one},
		{"S8: no resourceNames are every set", []rbacv1.PolicyRule{binding()}, every},
		{"no resourceNames outdo some", []rbacv1.PolicyRule{binding("blue"), binding()}, every},
		{"rules add up", []rbacv1.PolicyRule{binding("blue"), binding("red", "blue")}, Grant{Sets: sets.New("blue", "red")}},
		{"a resourceName is no pattern", []rbacv1.PolicyRule{binding("*")}, Grant{Sets: sets.New("*")}},

		{"S8: verb *", []rbacv1.PolicyRule{verbs("*")}, one},
		{"create among other verbs", []rbacv1.PolicyRule{verbs("get", "create")}, one},
		{"other verbs", []rbacv1.PolicyRule{verbs("get", "update", "bind", "Create", "create*")}, none},
		{"no verb", []rbacv1.PolicyRule{verbs()}, none},

		{"S8: apiGroup *", []rbacv1.PolicyRule{groups("*")}, one},
		{"the group among others", []rbacv1.PolicyRule{groups("", group)}, one},
		{"other groups", []rbacv1.PolicyRule{groups("", "*.open-cluster-management.io", "cluster.open-cluster-management.io/v1beta2")}, none},

		{"S8: resource */bind", []rbacv1.PolicyRule{resources("*/bind")}, one},
		{"S8: resource *", []rbacv1.PolicyRule{resources("*")}, one},
		{"the resource among others", []rbacv1.PolicyRule{resources("pods", "managedclustersets/bind")}, one},
		{"the sets themselves, and other subresources", []rbacv1.PolicyRule{resources("managedclustersets", "managedclustersets/join")}, none},
		{"the API server knows no such wildcards", []rbacv1.PolicyRule{resources("managedclustersets/*", "*/*", "*/", "*bind", "/bind", "*//bind")},
			none},
		{"the bindings are another resource", []rbacv1.PolicyRule{resources("managedclustersetbindings", "bind")}, none},
		{"a URL is no resource", []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, NonResourceURLs: []string{"*"}}}, none},

		{"all of one rule must match, not each of another", []rbacv1.PolicyRule{
			verbs("get"), groups("apps"), resources("pods"),
		}, none},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := OfRules(tc.rules); !got.Equal(tc.want) || got.Empty() != tc.want.Empty() {
				t.Errorf("OfRules(%v) = %v, want %v", tc.rules, got, tc.want)
			}
		})
	}
}

func TestGrantEqual(t *testing.T) {
	for _, tc := range []struct {
		reason string
		a, b   Grant
		want   bool
	}{
		{"nothing is nothing, however it is written", Grant{}, Grant{Sets: sets.New[string]()}, true},
		{"every set is every set, whatever else is named", Grant{All: true}, Grant{All: true, Sets: sets.New("blue")}, true},
		{"every set is more than those that there are", Grant{All: true}, Grant{Sets: sets.New("blue")}, false},
		{"the same names", Grant{Sets: sets.New("blue", "red")}, Grant{Sets: sets.New("red", "blue")}, true},
		{"other names", Grant{Sets: sets.New("blue")}, Grant{Sets: sets.New("red")}, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if tc.a.Equal(tc.b) != tc.want || tc.b.Equal(tc.a) != tc.want {
				t.Errorf("Equal(%v, %v) is not %v", tc.a, tc.b, tc.want)
			}
		})
	}
}
