// SPDX-License-Identifier: Apache-2.0

package system

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var (
	clusters            = inventory.Clusters.Resource
	sets                = inventory.ClusterSets.Resource
	bindings            = inventory.Bindings.Resource
	clusterRoles        = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	roleBindings        = rbacv1.SchemeGroupVersion.WithResource("rolebindings")
	clusterRoleBindings = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
	namespaces          = corev1.SchemeGroupVersion.WithResource("namespaces")
	definitions         = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// profileDecisions is what Options.ProfileDecisions takes beyond the access of the controllers.
var profileDecisions = systems.Access{
	Reads: reads(
		clusterinventory.GroupVersion.WithResource("clusterprofiles"), clusterinventory.GroupVersion.WithResource("placementdecisions"),
	),
	Rules: rules("multicluster"),
}

// member is a controller with the name of its system, which is empty for what every hub has.
type member struct {
	systems.Controller

	system string
}

// all returns every controller of the hub, of which the given ones are enabled. The flag --controllers, the check of rights and resources
// before a start, and the table in docs/controllers.md follow from this list.
func (o Options) all(enabled []string) []member {
	return o.allSharing(enabled, sharedinventory.New())
}

// allSharing returns all with the inventory of those that ask for clusters.
func (o Options) allSharing(enabled []string, shared *sharedinventory.Shared) []member {
	var all []member
	for _, system := range o.list(enabled, shared) {
		for _, controller := range system.Controllers {
			if system.Name != "" {
				if reads := &controller.Access.Reads; !slices.Contains(*reads, definitions) {
					*reads = append(*reads, definitions) // A system is off while a definition is missing.
				}
				controller.Served.Manifests = "manifests/" + system.Name
			}
			all = append(all, member{controller, system.Name})
		}
	}

	return all
}

func reads(resources ...schema.GroupVersionResource) []schema.GroupVersionResource { return resources }

// inventoryReads returns what the shared inventory watches, and the given resources.
func inventoryReads(own ...schema.GroupVersionResource) []schema.GroupVersionResource {
	var all []schema.GroupVersionResource
	for _, kind := range inventory.Kinds() {
		all = append(all, kind.Resource)
	}
	return append(all, own...)
}

func rules(role string, resources ...string) []systems.Rules {
	return []systems.Rules{{Role: role, Resources: resources}}
}

func clusterResource(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: clusterv1.GroupName, Version: version, Resource: resource}
}

// once returns a function that calls setup the first time only.
func once(setup func(manager.Manager, queue.Settings) error) func(manager.Manager, queue.Settings) error {
	called := false
	return func(mgr manager.Manager, settings queue.Settings) error {
		if called {
			return nil
		}
		called = true
		return setup(mgr, settings)
	}
}

// ServesWebhook reports whether an enabled controller serves a webhook, so that Webhook.Listener is needed. It returns an error if
// Controllers is invalid.
func (o Options) ServesWebhook() (bool, error) {
	enabled, err := o.Enabled()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(o.all(enabled), func(m member) bool {
		return m.Webhook != nil && slices.Contains(enabled, m.Name)
	}), nil
}

// WebhookNames returns the names of the controllers that serve webhooks.
func WebhookNames() []string {
	var names []string
	for _, controller := range (Options{}).all(nil) {
		if controller.Webhook != nil {
			names = append(names, controller.Name)
		}
	}
	return names
}

// Names returns the names of all controllers of the hub, as --controllers takes them.
func Names() []string {
	all := (Options{}).all(nil)
	names := make([]string, 0, len(all))
	for _, controller := range all {
		names = append(names, controller.Name)
	}
	return names
}

// Access returns what the enabled controllers need on the hub, each resource to read once. It returns an error if Controllers is invalid.
func (o Options) Access() (systems.Access, error) {
	enabled, err := o.Enabled()
	if err != nil {
		return systems.Access{}, err
	}
	var access systems.Access
	all := o.all(enabled)
	for _, controller := range all {
		if slices.Contains(enabled, controller.Name) {
			addAccess(&access, controller.Access)
		}
	}

	if o.ProfileDecisions {
		addAccess(&access, profileDecisions)
	}
	if o.keepsHistory(enabled) {
		addAccess(&access, systems.Access{Rules: rules("history")})
	}
	if serves, err := o.ServesWebhook(); err == nil && serves && o.Explanations != nil {
		addAccess(&access, systems.Access{Rules: rules("explanations")})
		for _, system := range o.list(enabled, nil) {
			if system.Explains && len(membersOf(all, system.Name, enabled)) > 0 {
				addAccess(&access, systems.Access{Rules: rules(system.Name + "-explanations")})
			}
		}
	}

	return access, nil
}

// addAccess adds the access of another controller.
func addAccess(to *systems.Access, other systems.Access) {
	for _, resource := range other.Reads {
		if !slices.Contains(to.Reads, resource) {
			to.Reads = append(to.Reads, resource)
		}
	}
	to.Rules = append(to.Rules, other.Rules...)
}
