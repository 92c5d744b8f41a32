package controller

import (
	"cmp"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	cozystackappsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/controller/clusteraccess"
	requestcontroller "github.com/placement-hub/placement-hub/pkg/controller/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/controller/clusterset"
	"github.com/placement-hub/placement-hub/pkg/controller/clustersinventory"
	federationcontroller "github.com/placement-hub/placement-hub/pkg/controller/federation"
	"github.com/placement-hub/placement-hub/pkg/controller/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/controller/placement"
	"github.com/placement-hub/placement-hub/pkg/controller/podscheduling"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/controller/sharedinventory"
	tenantcontrollers "github.com/placement-hub/placement-hub/pkg/controller/tenancy"
	"github.com/placement-hub/placement-hub/pkg/controller/webhookconfig"
	"github.com/placement-hub/placement-hub/pkg/tenancy"
	"github.com/placement-hub/placement-hub/pkg/webhook/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/webhook/clusterdefaults"
	requestwebhook "github.com/placement-hub/placement-hub/pkg/webhook/clusterrequest"
	federationwebhook "github.com/placement-hub/placement-hub/pkg/webhook/federation"
	policywebhook "github.com/placement-hub/placement-hub/pkg/webhook/podscheduling"
)

// The opt-in systems.
const (
	podSchedulingSystem  = "podscheduling"
	affinityClassSystem  = "affinityclass"
	federationSystem     = "federation"
	clusterRequestSystem = "clusterrequest"
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
	classes             = cozystackv1alpha1.GroupVersion.WithResource("affinityclasses")
	tenants             = cozystackappsv1alpha1.GroupVersion.WithResource("tenants")
	releases            = tenancy.ReleaseKind.GroupVersion().WithResource("helmreleases")
	definitions         = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// profileDecisions is what Options.ProfileDecisions takes beyond the access of the controllers.
var profileDecisions = Access{
	reads(clusterinventory.GroupVersion.WithResource("clusterprofiles"), clusterinventory.GroupVersion.WithResource("placementdecisions")),
	[]Rules{{Role: "multicluster"}},
}

// controller is an entry of the list of all controllers.
type controller struct {
	// name is what --controllers takes.
	name string
	// system is the opt-in system of the controller, whose name with "/*" stands for it in --controllers. Empty means placement: "*".
	system string
	// setup adds the controller to the manager; nil for one that only serves a webhook.
	setup func(manager.Manager, queue.Settings) error
	// webhook returns what the controller serves to API servers; nil for none.
	webhook func(manager.Manager, queue.Settings) (webhookconfig.Webhook, error)
	// served are the configurations and paths of the webhook of a controller with a system, which are known while the system is off.
	served webhookconfig.Webhook
	// access is what the controller needs on the hub.
	access Access
}

// all returns every controller of the hub, of which the given ones are enabled. The flag --controllers, the check of rights and resources
// before a start, and the table in README.md follow from this list.
func (o Options) all(enabled []string) []controller {
	return o.allSharing(enabled, sharedinventory.New())
}

// allSharing returns all with the inventory of those that ask for clusters.
func (o Options) allSharing(enabled []string, shared *sharedinventory.Shared) []controller {
	placements := once(o.placement(enabled, shared).Setup) // One controller serves both APIs.
	tenantControllers := tenantcontrollers.New()           // They share the informers of application kinds.

	all := append([]controller{
		{name: placement.Name, setup: placements, access: Access{
			reads(clusters, sets, bindings, scores, clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions")),
			// The role also has what the controller runs without: events, finalizers, and reviews of those who ask for metrics.
			rules("placement", clusters.Resource, sets.Resource,
				"placementdecisions", "placementdecisions/status", "placements", "placements/status"),
		}},
		{name: placement.V1alpha1Name, setup: placements, access: Access{
			reads(clusters, sets, bindings, scores, placementv1alpha1.GroupVersion.WithResource("placements"),
				placementv1alpha1.GroupVersion.WithResource("placementdecisions")),
			append(rules("placement", clusters.Resource, sets.Resource),
				rules("placement-v1alpha1", "placementdecisions", "placements", "placements/status")...),
		}},
		{name: clusterset.ClusterSet, setup: clusterset.SetupClusterSet, access: Access{
			reads(clusters, sets, bindings), rules("sets", sets.Resource, sets.Resource+"/status"),
		}},
		{name: clusterset.ClusterSetBinding, setup: clusterset.SetupClusterSetBinding, access: Access{
			reads(clusters, sets, bindings), rules("sets", bindings.Resource+"/status"),
		}},
		{name: clusterset.ClusterSetBindingRBAC, setup: clusterset.SetupClusterSetBindingRBAC, access: Access{
			reads(sets, bindings, clusterRoles, clusterRoleBindings, namespaces),
			rules("clustersetbinding-rbac"),
		}},
		{name: clusterset.ClusterSetRoles, setup: clusterset.SetupClusterSetRoles, access: Access{
			reads(sets, clusterRoles), rules("clusterset-roles"),
		}},
		{name: managedcluster.ManagedClusterTaints, setup: managedcluster.SetupManagedClusterTaints, access: Access{
			reads(clusters), rules("managedcluster-taints"),
		}},
		// The webhook configurations and the Secret are watched by their names, and may be missing.
		{name: clusterdefaults.Controller, webhook: managedClusterDefaults, access: Access{nil, rules("managedcluster-defaults")}},
		{name: managedcluster.Vocabulary, setup: managedcluster.SetupVocabulary, access: Access{
			reads(clusters, sets, bindings), rules("vocabulary"),
		}},
		{name: policywebhook.Controller, system: podSchedulingSystem, webhook: o.podScheduling, served: o.policyWebhook(), access: Access{
			reads(policyResource("podschedulingpolicies"), policyResource("clusterpodschedulingpolicies"), namespaces),
			rules("podscheduling"),
		}},
		{name: podscheduling.Limits, system: podSchedulingSystem, setup: podscheduling.SetupLimits, access: Access{
			reads(policyResource("podschedulingpolicies"), definitions), rules("podscheduling-limits"),
		}},
		{name: affinityclass.Controller, system: affinityClassSystem, webhook: affinityClasses, served: classWebhook, access: Access{
			reads(classes, tenants, releases, namespaces), rules("affinityclass-webhook"),
		}},
		{name: tenantcontrollers.Classes, system: affinityClassSystem, setup: tenantControllers.Classes, access: Access{
			reads(classes, tenants, releases, definitions), rules("affinityclass-classes"),
		}},
		// The Secrets are watched by their name.
		{name: tenantcontrollers.Tenants, system: affinityClassSystem, setup: tenantControllers.Tenants, access: Access{
			reads(tenants, releases, namespaces), rules("affinityclass-tenants"),
		}},
		{name: tenantcontrollers.Applications, system: affinityClassSystem, setup: tenantControllers.Applications, access: Access{
			reads(classes, tenants, releases, definitions, namespaces), rules("affinityclass-applications"),
		}},
		{name: tenantcontrollers.Namespaces, system: affinityClassSystem, setup: tenantControllers.Namespaces, access: Access{
			reads(tenants, releases, definitions, namespaces), rules("affinityclass-namespaces"),
		}},
	}, slices.Concat(o.federationControllers(shared), o.clusterRequestControllers())...)

	for i := range all {
		if reads := &all[i].access.Reads; all[i].system != "" && !slices.Contains(*reads, definitions) {
			*reads = append(*reads, definitions) // A system is off while a definition is missing.
		}
	}

	return all
}

// federationControllers returns the controllers of the system for federated objects.
func (o Options) federationControllers(shared *sharedinventory.Shared) []controller {
	federated := federationSetup{o.federation(shared)} // They share an index.

	return []controller{
		{name: federationcontroller.Objects, system: federationSystem, setup: federated.Setup, access: Access{
			reads(clusters, sets, bindings, scores, clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
				schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks")),
			rules("federation"),
		}},
		{name: federationwebhook.Controller, system: federationSystem, webhook: federated.webhook, served: federationWebhook, access: Access{
			reads(clusters, sets, bindings, scores, clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
				schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks")),
			rules("federation-webhook"),
		}},
	}
}

// clusterRequestControllers returns the controllers of the system for ClusterRequests.
func (o Options) clusterRequestControllers() []controller {
	return []controller{
		{name: requestcontroller.Requests, system: clusterRequestSystem, setup: o.clusterRequests, access: Access{
			reads(requestResource("clusterrequests"), requestResource("clusterrequestgrants"), requestResource("clusters"),
				requestResource("purposes"), requestResource("clusterproviders"), requestResource("traitequivalences")),
			rules("clusterrequest-requests"),
		}},
		{name: clusteraccess.Name, system: clusterRequestSystem, setup: clusteraccess.Setup, access: Access{
			reads(requestResource("accessrequests"), requestResource("clusterrequests"), requestResource("clusterrequestgrants"),
				requestResource("clusters"), requestResource("clusterproviders"), clusterRoles, clusterRoleBindings,
				rbacv1.SchemeGroupVersion.WithResource("roles"), roleBindings),
			rules("clusterrequest-accessrequests"),
		}},
		{name: clustersinventory.Name, system: clusterRequestSystem, setup: o.clustersInventory, access: Access{
			reads(requestResource("clusters"), requestResource("clusterproviders"), clusters,
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
				corev1.SchemeGroupVersion.WithResource("serviceaccounts"), roleBindings,
				coordinationv1.SchemeGroupVersion.WithResource("leases")),
			rules("clusters-inventory"),
		}},
		{name: requestwebhook.Controller, system: clusterRequestSystem, webhook: accessRequests, served: requestWebhook, access: Access{
			nil, rules("clusterrequest-webhook"),
		}},
	}
}

func reads(resources ...schema.GroupVersionResource) []schema.GroupVersionResource { return resources }

func rules(role string, resources ...string) []Rules { return []Rules{{role, resources}} }

func clusterResource(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: clusterv1.GroupName, Version: version, Resource: resource}
}

func requestResource(resource string) schema.GroupVersionResource {
	return openmcpv1alpha1.GroupVersion.WithResource(resource)
}

func policyResource(resource string) schema.GroupVersionResource {
	return kupidv1alpha1.GroupVersion.WithResource(resource)
}

// clusterRequests adds the controller of ClusterRequests.
func (o Options) clusterRequests(mgr manager.Manager, settings queue.Settings) error {
	return requestcontroller.SetupRequests(mgr, settings, o.ClusterRequests)
}

// clustersInventory adds the controller that publishes Clusters as ManagedClusters.
func (o Options) clustersInventory(mgr manager.Manager, settings queue.Settings) error {
	return clustersinventory.Options{DrainTimeout: o.ClusterDrainTimeout, DefaultSet: o.ClustersInventorySet}.Setup(mgr, settings)
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

// managedClusterDefaults returns the webhook for ManagedClusters.
func managedClusterDefaults(mgr manager.Manager, s queue.Settings) (webhookconfig.Webhook, error) {
	handlers, err := clusterdefaults.NewHandlers(s.Clock, mgr.GetAPIReader())

	return webhookconfig.Webhook{
		Controller: clusterdefaults.Controller, Manifests: "manifests/webhook", Handlers: handlers,
		Mutating: clusterdefaults.Configuration, Validating: clusterdefaults.Configuration,
	}, err
}

// The webhooks of the opt-in systems, without their handlers.
var (
	classWebhook = webhookconfig.Webhook{
		Validating: affinityclass.Configuration, Manifests: "manifests/affinityclass",
		Paths: []string{affinityclass.PodPath, affinityclass.TenantPath, affinityclass.ApplicationPath},
	}
	federationWebhook = webhookconfig.Webhook{
		Validating: federationwebhook.Configuration, Manifests: "manifests/federation", Paths: []string{federationwebhook.Path},
	}
	requestWebhook = webhookconfig.Webhook{
		Mutating: requestwebhook.Configuration, Manifests: "manifests/clusterrequest", Paths: []string{requestwebhook.Path},
	}
)

// policyWebhook returns the webhooks of pod scheduling policies, without their handlers.
func (o Options) policyWebhook() webhookconfig.Webhook {
	return webhookconfig.Webhook{
		Mutating: policywebhook.Configuration, Validating: policywebhook.Configuration, Manifests: "manifests/podscheduling",
		FailurePolicy: ptr.To(cmp.Or(o.PolicyFailure, admissionregistrationv1.Ignore)),
		Paths:         []string{policywebhook.MutatePath, policywebhook.ValidatePath},
	}
}

// podScheduling returns the handlers of pod scheduling policies.
func (o Options) podScheduling(mgr manager.Manager, _ queue.Settings) (webhookconfig.Webhook, error) {
	handlers, err := podscheduling.Handlers(mgr)

	return webhookconfig.Webhook{Handlers: handlers}, err
}

// affinityClasses returns the handlers of AffinityClasses.
func affinityClasses(mgr manager.Manager, s queue.Settings) (webhookconfig.Webhook, error) {
	handlers, err := affinityclass.NewHandlers(mgr, s.Namespace, s.Clock)

	return webhookconfig.Webhook{Handlers: handlers}, err
}

// federationSetup sets up the controllers of federated objects.
type federationSetup struct{ federationcontroller.Options }

// webhook returns the handler of federated objects.
func (f federationSetup) webhook(mgr manager.Manager, s queue.Settings) (webhookconfig.Webhook, error) {
	handlers, err := f.Handlers(mgr, s)

	return webhookconfig.Webhook{Handlers: handlers}, err
}

// accessRequests returns the handler of AccessRequests.
func accessRequests(manager.Manager, queue.Settings) (webhookconfig.Webhook, error) {
	return webhookconfig.Webhook{Handlers: requestwebhook.Handlers()}, nil
}

// ServesWebhook reports whether an enabled controller serves a webhook, so that Webhook.Listener is needed. It returns an error if
// Controllers is invalid.
func (o Options) ServesWebhook() (bool, error) {
	enabled, err := o.Enabled()
	if err != nil {
		return false, err
	}

	return slices.ContainsFunc(o.all(enabled), func(c controller) bool {
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
