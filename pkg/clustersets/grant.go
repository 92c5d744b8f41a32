// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// The request that must be allowed to an account for a set to be bound to its namespace.
const (
	verb        = "create"
	group       = "cluster.open-cluster-management.io"
	object      = "managedclustersets"
	resource    = object + "/" + subresource
	subresource = "bind"
)

// Grant is the sets that may be bound. The zero Grant is empty.
type Grant struct {
	// All includes every set, also those that are created later.
	All bool
	// Sets has single sets by name, which need not exist; they are ignored if All is true.
	Sets sets.Set[string]
}

// Contains reports whether a set may be bound.
func (g Grant) Contains(set string) bool { return g.All || g.Sets.Has(set) }

// Empty reports whether no set may be bound.
func (g Grant) Empty() bool { return !g.All && len(g.Sets) == 0 }

// Equal reports whether two grants contain the same sets, including sets that are created later.
func (g Grant) Equal(other Grant) bool {
	return g.All == other.All && (g.All || g.Sets.Equal(other.Sets))
}

// OfRules returns the Grant of the rules of a ClusterRole. Of an aggregated ClusterRole it expects the stored rules, as the API server's
// authorizer does, which evaluates no aggregation.
func OfRules(rules []rbacv1.PolicyRule) Grant {
	named := sets.New[string]()
	for i := range rules {
		rule := &rules[i]
		if !allowsBinding(rule) {
			continue
		}
		if len(rule.ResourceNames) == 0 {
			return Grant{All: true}
		}
		named.Insert(rule.ResourceNames...)
	}

	named.Delete("") // No set has an empty name.
	if len(named) == 0 {
		return Grant{}
	}
	return Grant{Sets: named}
}

// allowsBinding reports whether a rule allows to bind any set. The API server does not treat "managedclustersets/*" as a wildcard.
func allowsBinding(rule *rbacv1.PolicyRule) bool {
	return containsAny(rule.Verbs, rbacv1.VerbAll, verb) &&
		containsAny(rule.APIGroups, rbacv1.APIGroupAll, group) &&
		containsAny(rule.Resources, rbacv1.ResourceAll, resource, "*/"+subresource)
}

func containsAny(list []string, words ...string) bool {
	return slices.ContainsFunc(list, func(word string) bool { return slices.Contains(words, word) })
}
