// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// need is what a process needs on the hub.
type need struct {
	// reads are the resources that are listed and watched: without one of them the caches would never sync.
	reads []schema.GroupVersionResource
	// required are those of reads that the process does not start without, although an opt-in system has their group.
	required []schema.GroupVersionResource
	// rights are the rights beyond those to read.
	rights []right
	// added are the kinds that flags have added to those of systems.
	added []*systems.AddedKinds
}

// controllersNeed returns what the enabled controllers need, and the lease unless it is disabled.
func controllersNeed(o system.Options, lease election.Options) (need, error) {
	access, err := o.Access()
	if err != nil {
		return need{}, fmt.Errorf("--controllers: %w", err)
	}
	rights, err := rightsOf(o.Namespace, access.Rules...)
	if err != nil {
		return need{}, err
	}
	needed := need{reads: access.Reads, required: access.Required, rights: rights}
	if needed.added, err = o.AddedKinds(); err != nil {
		return need{}, err
	}
	if lease.Disable {
		return needed, nil
	}
	held, err := rightsOf(lease.Namespace, systems.Rules{Role: "leader-election"})
	needed.rights = append(needed.rights, held...)
	return needed, err
}

// observerNeeds returns what a process needs that only reads what the enabled controllers read, and authenticates and authorizes callers.
func observerNeeds(o system.Options) (need, error) {
	access, err := o.Access()
	if err != nil {
		return need{}, fmt.Errorf("--controllers: %w", err)
	}
	rights, err := rightsOf(o.Namespace, systems.Rules{Role: "placement", Resources: []string{"tokenreviews", "subjectaccessreviews"}})
	return need{reads: access.Reads, required: access.Required, rights: rights}, err
}

// rightsOf returns the rights in rules of manifests/rbac, each once. namespace is the namespace of the hub. Rules that the manifests do not
// have are an error.
func rightsOf(namespace string, all ...systems.Rules) ([]right, error) {
	roles, err := manifests.Roles()
	if err != nil {
		return nil, err
	}
	var rights []right
	for _, rules := range all {
		role := roles[rules.Role]
		found := append(rightsIn(role.Cluster, rules.Resources, ""), rightsIn(role.Namespaced, rules.Resources, namespace)...)
		if len(found) == 0 {
			return nil, fmt.Errorf("manifests/rbac has no rules %v in a role %s", rules.Resources, rules.Role)
		}
		for _, r := range found {
			if !slices.Contains(rights, r) {
				rights = append(rights, r)
			}
		}
	}
	return rights, nil
}

// rightsIn returns the rights in those of the rules that are about one of the resources; of all rules if there are no resources.
func rightsIn(rules []rbacv1.PolicyRule, resources []string, namespace string) []right {
	var rights []right
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			if len(resources) > 0 && !slices.Contains(resources, resource) {
				continue
			}
			plural, subresource, _ := strings.Cut(resource, "/")
			names := rule.ResourceNames
			if len(names) == 0 {
				names = []string{""} // every object
			}
			for _, group := range rule.APIGroups {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						rights = append(rights, right{
							verb: verb, group: group, resource: plural, subresource: subresource, name: name, namespace: namespace,
						})
					}
				}
			}
		}
	}
	return rights
}

// all returns the rights to sync the caches and the others, each once.
func (n need) all() []right {
	var rights []right
	for _, r := range n.reads {
		for _, verb := range []string{"list", "watch"} {
			rights = append(rights, right{verb: verb, group: r.Group, resource: r.Resource})
		}
	}
	for _, r := range n.rights {
		if !slices.Contains(rights, r) {
			rights = append(rights, r)
		}
	}
	return rights
}
