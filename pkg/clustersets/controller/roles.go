// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

const (
	// rolePrefix is the prefix of the name of every ClusterRole of a set. The purpose of the role, a colon and the name of the set follow.
	rolePrefix = "open-cluster-management:managedclusterset:"
	// bindPurpose is the purpose of the role with the right to bind a set.
	bindPurpose = "bind"
	// registerGroup is the API group of the right to accept a ManagedCluster.
	registerGroup = "register.open-cluster-management.io"
	// managedByLabel with the value roleManager marks a ClusterRole that this hub manages.
	managedByLabel = "app.kubernetes.io/managed-by"
	roleManager    = "placement-hub-" + ClusterSetRoles
)

// BindRole returns the name of the ClusterRole with the right to bind a set.
func BindRole(set string) string { return rolePrefix + bindPurpose + ":" + set }

// rolesOf returns the ClusterRoles of a set, with the names and rules that consoles expect (docs/spec/consumers.md U17).
func rolesOf(set *clusterv1beta2.ManagedClusterSet) []*rbacv1.ClusterRole {
	named := func(verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{clusterv1.GroupName}, Resources: resources, ResourceNames: []string{set.Name}, Verbs: verbs}
	}
	get := named([]string{"get"}, "managedclustersets")
	return []*rbacv1.ClusterRole{
		roleOf(set, "admin",
			named([]string{"get", "update"}, "managedclustersets"),
			named([]string{"create"}, "managedclustersets/join", "managedclustersets/bind"),
			// RBAC cannot restrict the creation of ManagedClusters by name, nor acceptance by set.
			rbacv1.PolicyRule{APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclusters"}, Verbs: []string{"create"}},
			rbacv1.PolicyRule{APIGroups: []string{registerGroup}, Resources: []string{"managedclusters/accept"}, Verbs: []string{"update"}},
		),
		roleOf(set, bindPurpose, get, named([]string{"create"}, "managedclustersets/bind")),
		roleOf(set, "view", get),
	}
}

// GrantedByRoles returns the rules of the ClusterRoles of any set, without resourceNames. RBAC lets only a holder of these rights create
// the roles.
func GrantedByRoles() []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, role := range rolesOf(&clusterv1beta2.ManagedClusterSet{}) {
		for _, rule := range role.Rules {
			rule.ResourceNames = nil
			rules = append(rules, rule)
		}
	}
	return rules
}

// roleOf returns a ClusterRole that the set owns. It does not block the deletion of the set, because that takes a right to its finalizers.
func roleOf(set *clusterv1beta2.ManagedClusterSet, purpose string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name:   rolePrefix + purpose + ":" + set.Name,
			Labels: map[string]string{managedByLabel: roleManager},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1beta2.GroupVersion.String(), Kind: "ManagedClusterSet", Name: set.Name, UID: set.UID, Controller: ptr.To(true),
			}},
		},
		Rules: rules,
	}
}

// setOfRoleName returns the set in the name of a ClusterRole; false if the name has another form.
func setOfRoleName(role string) (set string, found bool) {
	named, found := strings.CutPrefix(role, rolePrefix)
	if !found {
		return "", false
	}
	_, set, found = strings.Cut(named, ":")
	return set, found
}

// upToDate reports whether a ClusterRole is as the hub writes it for the set that owns it.
func upToDate(role *rbacv1.ClusterRole) bool {
	name, found := setOfRoleName(role.Name)
	if !found || len(role.OwnerReferences) != 1 || !managed(role) {
		return false
	}
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: role.OwnerReferences[0].UID}}
	return slices.ContainsFunc(rolesOf(set), func(wanted *rbacv1.ClusterRole) bool { return wanted.Name == role.Name && equalRoles(wanted, role) })
}

// equalRoles reports whether two ClusterRoles have the same rules and owners.
func equalRoles(a, b *rbacv1.ClusterRole) bool {
	return equality.Semantic.DeepEqual(a.Rules, b.Rules) && equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

// managed reports whether this hub manages a ClusterRole. It does not touch an aggregated role, because only a cluster administrator may
// aggregate rules.
func managed(role *rbacv1.ClusterRole) bool {
	return role.Labels[managedByLabel] == roleManager && role.AggregationRule == nil
}
