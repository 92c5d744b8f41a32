package system

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// Access is what a controller needs on the hub.
type Access struct {
	// Reads are the resources that the controller lists and watches everywhere: without one of them its caches never sync.
	Reads []schema.GroupVersionResource
	// Rules are the rules of manifests/rbac that the controller needs beyond Reads.
	Rules []Rules
}

// Rules are rules of one role of the manifests.
type Rules struct {
	// Role is the name of a ClusterRole, a Role or both, without the prefix open-cluster-management:placement-hub:.
	Role string
	// Resources are the resources of the rules, such as "placements/status". Empty means every rule of the role.
	Resources []string
}

var (
	clusters            = clusterResource(clusterv1.GroupVersion.Version, "managedclusters")
	sets                = clusterResource(clusterv1beta2.GroupVersion.Version, "managedclustersets")
	bindings            = clusterResource(clusterv1beta2.GroupVersion.Version, "managedclustersetbindings")
	scores              = clusterResource(clusterv1alpha1.GroupVersion.Version, "addonplacementscores")
	clusterRoles        = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	roleBindings        = rbacv1.SchemeGroupVersion.WithResource("rolebindings")
	clusterRoleBindings = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
	namespaces          = corev1.SchemeGroupVersion.WithResource("namespaces")
	definitions         = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// profileDecisions is what Options.ProfileDecisions takes beyond the access of the controllers.
var profileDecisions = Access{
	reads(clusterinventory.GroupVersion.WithResource("clusterprofiles"), clusterinventory.GroupVersion.WithResource("placementdecisions")),
	[]Rules{{Role: "multicluster"}},
}

// entry is a controller in the list of all.
type entry struct {
	// name is what --controllers takes.
	name string
	// system is the name of the opt-in system that the controller belongs to. The pattern "<system>/*" of --controllers enables all controllers
	// of a system. Empty means that the controller belongs to placement, and that the pattern "*" enables it.
	system string
	// setup adds the controller to the manager; nil for one that only serves a webhook.
	setup func(manager.Manager, queue.Settings) error
	// webhook returns what the controller serves to API servers; nil for none.
	webhook func(manager.Manager, queue.Settings) (webhookserver.Webhook, error)
	// served are the configurations and paths of the webhook of a controller with a system, which are known while the system is off.
	served webhookserver.Webhook
	// access is what the controller needs on the hub.
	access Access
}

// all returns every controller of the hub, of which the given ones are enabled. The flag --controllers, the check of rights and resources
// before a start, and the table in README.md follow from this list.
func (o Options) all(enabled []string) []entry {
	return o.allSharing(enabled, sharedinventory.New())
}

// allSharing returns all with the inventory of those that ask for clusters.
func (o Options) allSharing(enabled []string, shared *sharedinventory.Shared) []entry {
	all := slices.Concat(o.placementControllers(enabled, shared), clusterSetControllers(), o.podSchedulingControllers(), affinityClassControllers(),
		o.federationControllers(shared), o.clusterRequestControllers())

	for i := range all {
		if reads := &all[i].access.Reads; all[i].system != "" && !slices.Contains(*reads, definitions) {
			*reads = append(*reads, definitions) // A system is off while a definition is missing.
		}
	}

	return all
}

func reads(resources ...schema.GroupVersionResource) []schema.GroupVersionResource { return resources }

func rules(role string, resources ...string) []Rules { return []Rules{{role, resources}} }

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

	return slices.ContainsFunc(o.all(enabled), func(c entry) bool {
		return c.webhook != nil && slices.Contains(enabled, c.name)
	}), nil
}

// WebhookNames returns the names of the controllers that serve webhooks.
func WebhookNames() []string {
	var names []string

	for _, controller := range (Options{}).all(nil) {
		if controller.webhook != nil {
			names = append(names, controller.name)
		}
	}

	return names
}

// Names returns the names of all controllers of the hub, as --controllers takes them.
func Names() []string {
	all := (Options{}).all(nil)
	names := make([]string, 0, len(all))

	for _, controller := range all {
		names = append(names, controller.name)
	}

	return names
}

// Access returns what the enabled controllers need on the hub, each resource to read once. It returns an error if Controllers is invalid.
func (o Options) Access() (Access, error) {
	enabled, err := o.Enabled()
	if err != nil {
		return Access{}, err
	}

	var all Access

	for _, controller := range o.all(enabled) {
		if slices.Contains(enabled, controller.name) {
			all.add(controller.access)
		}
	}

	if o.ProfileDecisions {
		all.add(profileDecisions)
	}

	if serves, err := o.ServesWebhook(); err == nil && serves && o.Explanations != nil {
		all.add(Access{nil, rules("explanations")})

		for _, system := range []string{podSchedulingSystem, affinityClassSystem} {
			if len(membersOf(o.all(enabled), system, enabled)) > 0 {
				all.add(Access{nil, rules(system + "-explanations")})
			}
		}
	}

	return all, nil
}

// add adds the access of another controller.
func (a *Access) add(other Access) {
	for _, resource := range other.Reads {
		if !slices.Contains(a.Reads, resource) {
			a.Reads = append(a.Reads, resource)
		}
	}

	a.Rules = append(a.Rules, other.Rules...)
}
