// SPDX-License-Identifier: Apache-2.0

package shapes

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// right is a right on a resource, which may be a subresource such as placements/status.
type right struct{ verb, group, resource, name, namespace string }

func (r right) String() string {
	text := "the right to " + r.verb + " " + r.resource + "." + r.group
	if r.name != "" {
		text += " named " + r.name
	}
	if r.namespace != "" {
		text += " in namespace " + r.namespace
	}
	return text
}

// rightsOf returns the rights that the hub checks before it starts.
func rightsOf(o system.Options) ([]right, error) {
	access, err := o.Access()
	if err != nil {
		return nil, err
	}
	roles, err := manifests.Roles()
	if err != nil {
		return nil, err
	}
	var rights []right
	for _, read := range access.Reads {
		for _, verb := range []string{"list", "watch"} {
			rights = append(rights, right{verb: verb, group: read.Group, resource: read.Resource})
		}
	}
	for _, rules := range append(access.Rules, systems.Rules{Role: "leader-election"}) {
		role, found := roles[rules.Role]
		if !found {
			return nil, fmt.Errorf("the manifests have no role %s", rules.Role)
		}
		rights = append(rights, rightsIn(role.Cluster, rules.Resources, "")...)
		rights = append(rights, rightsIn(role.Namespaced, rules.Resources, o.Namespace)...)
	}
	return rights, nil
}

// rightsIn returns the rights in those of the rules that are about one of the resources; of all rules if there are no resources.
func rightsIn(rules []rbacv1.PolicyRule, resources []string, namespace string) []right {
	var rights []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""} // every object
		}
		for _, resource := range rule.Resources {
			if len(resources) > 0 && !slices.Contains(resources, resource) {
				continue
			}
			for _, group := range rule.APIGroups {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						rights = append(rights, right{verb, group, resource, name, namespace})
					}
				}
			}
		}
	}
	return rights
}

// rbac has the roles of an installation, and their bindings.
type rbac struct {
	clusterRoles        []rbacv1.ClusterRole
	clusterRoleBindings []rbacv1.ClusterRoleBinding
	roles               []rbacv1.Role
	roleBindings        []rbacv1.RoleBinding
}

// missing returns those of the rights that the subject does not have, each once.
func (r *rbac) missing(subject rbacv1.Subject, rights []right) []string {
	var missing []string
	for _, right := range rights {
		if text := right.String() + " for " + subject.Name; !r.allows(subject, right) && !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	return missing
}

// allows reports whether a role that is bound to the subject has a right.
func (r *rbac) allows(subject rbacv1.Subject, right right) bool {
	for n := range r.clusterRoleBindings {
		binding := &r.clusterRoleBindings[n]
		if slices.Contains(binding.Subjects, subject) && slices.ContainsFunc(r.rulesOf(binding.RoleRef, ""), right.isIn) {
			return true
		}
	}
	for n := range r.roleBindings {
		binding := &r.roleBindings[n]
		if right.namespace != "" && binding.Namespace == right.namespace && slices.Contains(binding.Subjects, subject) &&
			slices.ContainsFunc(r.rulesOf(binding.RoleRef, binding.Namespace), right.isIn) {
			return true
		}
	}
	return false
}

// rulesOf returns the rules of the role of a binding in a namespace, or of one for all namespaces.
func (r *rbac) rulesOf(ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	if ref.Kind == "Role" {
		if n := slices.IndexFunc(r.roles, func(role rbacv1.Role) bool { return role.Name == ref.Name && role.Namespace == namespace }); n >= 0 {
			return r.roles[n].Rules
		}
		return nil
	}
	if n := slices.IndexFunc(r.clusterRoles, func(role rbacv1.ClusterRole) bool { return role.Name == ref.Name }); n >= 0 {
		return r.clusterRoles[n].Rules
	}
	return nil
}

// bound reports whether a Role of a namespace, which may be one of Kubernetes, is bound to the subject.
func (r *rbac) bound(subject rbacv1.Subject, namespace, role string) bool {
	return slices.ContainsFunc(r.roleBindings, func(binding rbacv1.RoleBinding) bool {
		return binding.Namespace == namespace && binding.RoleRef.Kind == "Role" && binding.RoleRef.Name == role &&
			slices.Contains(binding.Subjects, subject)
	})
}

// isIn reports whether a rule grants the right. A rule with "*" grants it for every API group, resource or verb.
func (r right) isIn(rule rbacv1.PolicyRule) bool {
	has := func(all []string, one string) bool { return slices.Contains(all, one) || slices.Contains(all, "*") }
	_, subresource, isSub := strings.Cut(r.resource, "/")
	return has(rule.Verbs, r.verb) && has(rule.APIGroups, r.group) &&
		(has(rule.Resources, r.resource) || isSub && slices.Contains(rule.Resources, "*/"+subresource)) &&
		(len(rule.ResourceNames) == 0 || r.name != "" && slices.Contains(rule.ResourceNames, r.name))
}
