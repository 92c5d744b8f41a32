package scope

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// What an account must be allowed to do to have a set bound to its namespace.
const (
	verb        = "create"
	group       = "cluster.open-cluster-management.io"
	object      = "managedclustersets"
	resource    = object + "/" + subresource
	subresource = "bind"
)

// Grant is the sets that may be bound. The zero Grant is none.
type Grant struct {
	// All says every set, also those that are created later.
	All bool
	// Sets are the names of single sets, whether they exist or not; unused when All is set.
	Sets sets.Set[string]
}

// Holds reports whether a set may be bound.
func (g Grant) Contains(set string) bool { return g.All || g.Sets.Has(set) }

// Empty reports whether there is no set that may be bound.
func (g Grant) Empty() bool { return !g.All && len(g.Sets) == 0 }

// Equal reports whether two grants hold the same sets, whichever sets there will be.
func (g Grant) Equal(other Grant) bool {
	return g.All == other.All && (g.All || g.Sets.Equal(other.Sets))
}

// OfRules is what the rules of a ClusterRole grant. Of an aggregated ClusterRole the stored rules count, as for the API server: it
// evaluates no aggregation of its own.
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

	named.Delete("") // No set has this name.

	if len(named) == 0 {
		return Grant{}
	}

	return Grant{Sets: named}
}

// allowsBinding reports whether a rule allows to bind any set. "managedclustersets/*" is no wildcard to the API server.
func allowsBinding(rule *rbacv1.PolicyRule) bool {
	return containsAny(rule.Verbs, rbacv1.VerbAll, verb) &&
		containsAny(rule.APIGroups, rbacv1.APIGroupAll, group) &&
		containsAny(rule.Resources, rbacv1.ResourceAll, resource, "*/"+subresource)
}

func containsAny(list []string, words ...string) bool {
	return slices.ContainsFunc(list, func(word string) bool { return slices.Contains(words, word) })
}
