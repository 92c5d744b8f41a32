// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// decisionAnnotation is where the audit log keeps what the authorizer said.
const decisionAnnotation = "authorization.k8s.io/decision"

// privilege is one verb on one resource, the smallest thing that a rule grants.
type privilege struct {
	role                  string // that grants it; empty for a request
	verb, group, resource string // resource with its subresource
	namespace             string // empty is everywhere
	name                  string // empty is any
}

func (p privilege) String() string {
	text := p.verb + " " + p.resource
	if p.group != "" {
		text += "." + p.group
	}
	if p.name != "" {
		text += " named " + p.name
	}
	if p.namespace != "" {
		text += " in " + p.namespace
	}
	return text
}

// covers reports whether a request is allowed by the privilege.
func (p privilege) covers(request privilege) bool {
	return p.verb == request.verb && p.group == request.group && p.resource == request.resource &&
		(p.namespace == "" || p.namespace == request.namespace) && (p.name == "" || p.name == request.name)
}

// granted are the privileges of the controllers' ServiceAccount, by the bindings that name it.
func granted(t *testing.T, h *suite.Hub) []privilege {
	t.Helper()
	var everywhere rbacv1.ClusterRoleBindingList
	suite.Must(t, h.Client.List(t.Context(), &everywhere))
	var all []privilege
	for _, binding := range everywhere.Items {
		if ofController(binding.Subjects) {
			all = append(all, privileges(t, h, "", binding.RoleRef)...)
		}
	}
	var inNamespaces rbacv1.RoleBindingList
	suite.Must(t, h.Client.List(t.Context(), &inNamespaces))
	for _, binding := range inNamespaces.Items {
		if ofController(binding.Subjects) {
			all = append(all, privileges(t, h, binding.Namespace, binding.RoleRef)...)
		}
	}
	return all
}

func ofController(subjects []rbacv1.Subject) bool {
	return slices.Contains(subjects, rbacv1.Subject{
		Kind: rbacv1.ServiceAccountKind, Namespace: manifests.Namespace, Name: manifests.ServiceAccount,
	})
}

// privileges are what a role grants where it is bound. A wildcard stays one, and covers no request: none is granted.
func privileges(t *testing.T, h *suite.Hub, namespace string, ref rbacv1.RoleRef) []privilege {
	t.Helper()
	var privileges []privilege
	for _, rule := range rules(t, h, namespace, ref) {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range append(slices.Clone(rule.ResourceNames), "")[:max(1, len(rule.ResourceNames))] {
						privileges = append(privileges, privilege{
							role: ref.Name, verb: verb, group: group, resource: resource, namespace: namespace, name: name,
						})
					}
				}
			}
		}
	}
	return privileges
}

func rules(t *testing.T, h *suite.Hub, namespace string, ref rbacv1.RoleRef) []rbacv1.PolicyRule {
	t.Helper()
	if ref.Kind == "Role" {
		role := &rbacv1.Role{}
		suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: ref.Name}, role))
		return role.Rules
	}
	role := &rbacv1.ClusterRole{}
	suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Name: ref.Name}, role))
	return role.Rules
}

// requested are the requests of the controllers so far, each once, in order. A watch is among them when it has ended.
func requested(t *testing.T, h *suite.Hub) (allowed, forbidden []privilege) {
	t.Helper()
	h.AwaitAudit(t)
	events, err := h.Environment.Audit()
	suite.Must(t, err)
	for _, event := range events {
		if event.User.Username != suite.HubUser || event.ObjectRef == nil {
			continue
		}
		if event.Annotations[decisionAnnotation] == "allow" {
			allowed = append(allowed, requestOf(event))
		} else {
			forbidden = append(forbidden, requestOf(event))
		}
	}
	return distinct(allowed), distinct(forbidden)
}

func requestOf(event auditv1.Event) privilege {
	object := event.ObjectRef
	resource := object.Resource
	if object.Subresource != "" {
		resource += "/" + object.Subresource
	}
	return privilege{verb: event.Verb, group: object.APIGroup, resource: resource, namespace: object.Namespace, name: object.Name}
}

func distinct(privileges []privilege) []privilege {
	slices.SortFunc(privileges, func(a, b privilege) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(a.role, b.role))
	})
	return slices.Compact(privileges)
}

// withhold takes a privilege from the roles of the controllers, waits until the API server acts on it, and returns what gives it back.
func withhold(t *testing.T, h *suite.Hub, ref rbacv1.RoleRef, taken privilege) (restore func()) {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Name: ref.Name}, role))
	before := role.DeepCopy()
	var rest []rbacv1.PolicyRule
	for _, rule := range role.Rules {
		rest = append(rest, without(rule, taken)...)
	}
	role.Rules = rest
	suite.Must(t, h.Client.Update(t.Context(), role))
	return func() {
		before.ResourceVersion = role.ResourceVersion
		suite.Must(t, h.Client.Update(t.Context(), before))
	}
}

// without is the rule as rules that grant everything but the privilege.
func without(rule rbacv1.PolicyRule, taken privilege) []rbacv1.PolicyRule {
	if !slices.Contains(rule.Verbs, taken.verb) || !slices.Contains(rule.APIGroups, taken.group) ||
		!slices.Contains(rule.Resources, taken.resource) {
		return []rbacv1.PolicyRule{rule}
	}
	others, verbs := rule.DeepCopy(), rule.DeepCopy()
	others.Resources = slices.DeleteFunc(others.Resources, func(resource string) bool { return resource == taken.resource })
	verbs.Resources = []string{taken.resource}
	verbs.Verbs = slices.DeleteFunc(verbs.Verbs, func(verb string) bool { return verb == taken.verb })
	return slices.DeleteFunc([]rbacv1.PolicyRule{*others, *verbs}, func(rule rbacv1.PolicyRule) bool {
		return len(rule.Resources) == 0 || len(rule.Verbs) == 0
	})
}

func describe(privileges []privilege) string {
	var text strings.Builder
	for _, p := range privileges {
		fmt.Fprintf(&text, "\n  %s", p)
		if p.role != "" {
			fmt.Fprintf(&text, " (role %s)", p.role)
		}
	}
	return text.String()
}
