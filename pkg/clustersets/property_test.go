// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"
	"strconv"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	apiuser "k8s.io/apiserver/pkg/authentication/user"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

var (
	someNamespaces = []string{"a", "b", "placement"}
	someSets       = []string{"blue", "red", "*"}
)

func words(choices ...string) *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom(choices), 0, 2)
}

func drawnRule() *rapid.Generator[rbacv1.PolicyRule] {
	return rapid.Custom(func(t *rapid.T) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			Verbs:         words("create", "*", "create", "get", "bind").Draw(t, "verbs"),
			APIGroups:     words(group, "*", group, "", "apps").Draw(t, "groups"),
			Resources:     words("managedclustersets/bind", "*/bind", "*", "managedclustersets", "managedclustersets/*", "*/*").Draw(t, "resources"),
			ResourceNames: words(append(someSets, "")...).Draw(t, "names"),
		}
	})
}

func drawnSubject() *rapid.Generator[rbacv1.Subject] {
	return rapid.Custom(func(t *rapid.T) rbacv1.Subject {
		namespace := rapid.SampledFrom(slices.Concat(someNamespaces, []string{"", "a:b"})).Draw(t, "namespace")
		name := rapid.SampledFrom([]string{Account, Account, "default", "a:placement"}).Draw(t, "name")
		return rapid.SampledFrom([]rbacv1.Subject{
			account(namespace, name), user("system:serviceaccount:" + namespace + ":" + name), members("system:serviceaccounts:" + namespace),
			members("system:serviceaccounts"), members("system:authenticated"), members(name), user(namespace),
		}).Draw(t, "subject")
	})
}

// objects is the RBAC objects at one time.
type objects struct {
	roles    []rbacv1.ClusterRole
	bindings []rbacv1.ClusterRoleBinding
}

func drawObjects(t *rapid.T, label string) objects {
	var w objects
	for i := range rapid.IntRange(0, 3).Draw(t, label+" roles") {
		w.roles = append(w.roles, role(strconv.Itoa(i), rapid.SliceOfN(drawnRule(), 0, 2).Draw(t, label+" rules")...))
	}
	for range rapid.IntRange(0, 3).Draw(t, label+" bindings") {
		w.bindings = append(w.bindings, roleBinding(rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, label+" role"),
			rapid.SliceOfN(drawnSubject(), 0, 3).Draw(t, label+" subjects")...))
	}
	return w
}

func (o objects) allowed(namespace string) Grant {
	return Allowed(namespace, o.bindings, GrantsOf(o.roles))
}

// authorizer is the naive reference: it evaluates a request of a user on bindings, roles and rules, as the API server's RBAC authorizer
// does.
func (o objects) authorizer(who apiuser.Info, set string) bool {
	applies := func(subject rbacv1.Subject) bool {
		switch subject.Kind {
		case "User":
			return who.GetName() == subject.Name
		case "Group":
			return slices.Contains(who.GetGroups(), subject.Name)
		case "ServiceAccount":
			return subject.Namespace != "" && serviceaccount.MatchesUsername(subject.Namespace, subject.Name, who.GetName())
		default:
			return false
		}
	}

	for _, binding := range o.bindings {
		for _, role := range o.roles {
			if role.Name != binding.RoleRef.Name || !slices.ContainsFunc(binding.Subjects, applies) {
				continue
			}
			for _, rule := range role.Rules {
				verbMatches := slices.Contains(rule.Verbs, "*") || slices.Contains(rule.Verbs, "create")
				groupMatches := slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.APIGroups, group)
				resourceMatches := slices.Contains(rule.Resources, "*") || slices.Contains(rule.Resources, "managedclustersets/bind") ||
					slices.Contains(rule.Resources, "*/bind")
				nameMatches := len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, set)
				if verbMatches && groupMatches && resourceMatches && nameMatches {
					return true
				}
			}
		}
	}

	return false
}

func TestAllowedEqualsTheAuthorizer(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := drawObjects(t, "world")
		for _, namespace := range someNamespaces {
			who := &apiuser.DefaultInfo{
				Name:   serviceaccount.MakeUsername(namespace, Account),
				Groups: append(serviceaccount.MakeGroupNames(namespace), apiuser.AllAuthenticated),
			}
			grant := w.allowed(namespace)
			for _, set := range slices.Concat(someSets, []string{"later"}) {
				if got, want := grant.Contains(set), w.authorizer(who, set); got != want {
					t.Fatalf("account of %s and set %s: %v, want %v", namespace, set, got, want)
				}
			}
		}
	})
}

func TestAllowedIgnoresOrder(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := drawObjects(t, "world")
		shuffled := objects{roles: rapid.Permutation(w.roles).Draw(t, "roles"), bindings: rapid.Permutation(w.bindings).Draw(t, "bindings")}
		for i := range shuffled.roles {
			shuffled.roles[i].Rules = rapid.Permutation(shuffled.roles[i].Rules).Draw(t, "rules")
		}
		for _, namespace := range someNamespaces {
			if got, want := shuffled.allowed(namespace), w.allowed(namespace); !got.Equal(want) {
				t.Fatalf("namespace %s: %v, in another order %v", namespace, want, got)
			}
		}
	})
}

func TestAllowedGrowsWithTheBindings(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := drawObjects(t, "world")
		more := objects{roles: w.roles, bindings: slices.Concat(w.bindings, drawObjects(t, "more").bindings)}
		for _, namespace := range someNamespaces {
			before, after := w.allowed(namespace), more.allowed(namespace)
			if before.All && !after.All || !after.All && !after.Sets.IsSuperset(before.Sets) {
				t.Fatalf("namespace %s: %v became %v by more bindings", namespace, before, after)
			}
		}
	})
}

// TestAudiencesCoverChanges checks that the audiences of a changed binding or role contain every namespace whose grant changes. The
// controller relies on it.
func TestAudiencesCoverChanges(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		before := drawObjects(t, "before")
		after := objects{roles: before.roles, bindings: slices.Clone(before.bindings)}
		var told Audience
		switch one := drawObjects(t, "change"); {
		case len(one.bindings) > 0 && len(after.bindings) > 0:
			old, changed := after.bindings[0], one.bindings[0]
			after.bindings[0] = changed
			told = AudienceOf(old.Subjects).Union(AudienceOf(changed.Subjects))
			if old.RoleRef == changed.RoleRef {
				told = AudienceOf(old.Subjects).Difference(AudienceOf(changed.Subjects))
			}
		case len(one.bindings) > 0:
			after.bindings = one.bindings[:1]
			told = AudienceOf(after.bindings[0].Subjects)
		default:
			after.roles = one.roles
			for i := range after.bindings {
				told = told.Union(AudienceOf(after.bindings[i].Subjects))
			}
		}

		for _, namespace := range someNamespaces {
			if !before.allowed(namespace).Equal(after.allowed(namespace)) && !told.Contains(namespace) {
				t.Fatalf("what namespace %s may bind changed, and it is not in %v", namespace, told)
			}
		}
	})
}

func TestIncludesAccountEqualsAudience(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		subjects := rapid.SliceOfN(drawnSubject(), 0, 4).Draw(t, "subjects")
		for _, namespace := range someNamespaces {
			if got, want := includesAccount(subjects, namespace), AudienceOf(subjects).Contains(namespace); got != want {
				t.Fatalf("%v concerns namespace %s: %v, want %v", subjects, namespace, got, want)
			}
		}
	})
}
