package clusterset

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
	// rolePrefix begins the name of every ClusterRole of a set: what it is for and the name of the set follow, with a colon between.
	rolePrefix = "open-cluster-management:managedclusterset:"
	// registerGroup is the API group of the right to accept a cluster.
	registerGroup = "register.open-cluster-management.io"
	// managedByLabel with the value roleManager says that a role is kept by this hub.
	managedByLabel = "app.kubernetes.io/managed-by"
	roleManager    = "placement-hub-" + ClusterSetRoles
)

// rolesOf are the ClusterRoles of a set, by the names and with the rules that consoles know (docs/spec/consumers.md U17).
func rolesOf(set *clusterv1beta2.ManagedClusterSet) []*rbacv1.ClusterRole {
	named := func(verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{clusterv1.GroupName}, Resources: resources, ResourceNames: []string{set.Name}, Verbs: verbs}
	}
	get := named([]string{"get"}, "managedclustersets")

	return []*rbacv1.ClusterRole{
		roleOf(set, "admin",
			named([]string{"get", "update"}, "managedclustersets"),
			named([]string{"create"}, "managedclustersets/join", "managedclustersets/bind"),
			// What is created has no name that a rule could ask for, and which cluster is to be accepted is not the set's to say.
			rbacv1.PolicyRule{APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclusters"}, Verbs: []string{"create"}},
			rbacv1.PolicyRule{APIGroups: []string{registerGroup}, Resources: []string{"managedclusters/accept"}, Verbs: []string{"update"}},
		),
		roleOf(set, "bind", get, named([]string{"create"}, "managedclustersets/bind")),
		roleOf(set, "view", get),
	}
}

// GrantedByRoles is what the ClusterRoles of a set grant, whatever the set: who makes them must hold it.
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

// roleOf is a ClusterRole that goes with the set. It does not block the deletion of the set, which would take a right to its finalizers.
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

// setOfRoleName is the set that the name of a role speaks of, whatever the role is for.
func setOfRoleName(role string) (set string, found bool) {
	named, found := strings.CutPrefix(role, rolePrefix)
	if !found {
		return "", false
	}

	_, set, found = strings.Cut(named, ":")

	return set, found
}

// upToDate reports whether a role is as the hub keeps it for the set that owns it.
func upToDate(role *rbacv1.ClusterRole) bool {
	name, found := setOfRoleName(role.Name)
	if !found || len(role.OwnerReferences) != 1 || !managed(role) {
		return false
	}

	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: role.OwnerReferences[0].UID}}

	return slices.ContainsFunc(rolesOf(set), func(wanted *rbacv1.ClusterRole) bool { return wanted.Name == role.Name && equalRoles(wanted, role) })
}

// equalRoles reports whether two roles are the same to the hub.
func equalRoles(a, b *rbacv1.ClusterRole) bool {
	return equality.Semantic.DeepEqual(a.Rules, b.Rules) && equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

// managed reports whether a role is kept by this hub. One that collects the rules of others is theirs who may do everything: nobody else may
// have it do so, or undo it.
func managed(role *rbacv1.ClusterRole) bool {
	return role.Labels[managedByLabel] == roleManager && role.AggregationRule == nil
}
