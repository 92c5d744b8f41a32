package system

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/access"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/controller"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/publish"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

const clusterRequestSystem = "clusterrequest"

// clusterRequestControllers returns the controllers of the system for ClusterRequests.
func (o Options) clusterRequestControllers() []entry {
	return []entry{
		{name: controller.Requests, system: clusterRequestSystem, setup: o.clusterRequests, access: Access{
			reads(requestResource("clusterrequests"), requestResource("clusterrequestgrants"), requestResource("clusters"),
				requestResource("purposes"), requestResource("clusterproviders"), requestResource("traitequivalences")),
			rules("clusterrequest-requests"),
		}},
		{name: access.Name, system: clusterRequestSystem, setup: access.Setup, access: Access{
			reads(requestResource("accessrequests"), requestResource("clusterrequests"), requestResource("clusterrequestgrants"),
				requestResource("clusters"), requestResource("clusterproviders"), clusterRoles, clusterRoleBindings,
				rbacv1.SchemeGroupVersion.WithResource("roles"), roleBindings),
			rules("clusterrequest-accessrequests"),
		}},
		{name: publish.Name, system: clusterRequestSystem, setup: o.clustersInventory, access: Access{
			reads(requestResource("clusters"), requestResource("clusterproviders"), clusters,
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
				corev1.SchemeGroupVersion.WithResource("serviceaccounts"), roleBindings,
				coordinationv1.SchemeGroupVersion.WithResource("leases")),
			rules("clusters-inventory"),
		}},
		{name: webhook.Controller, system: clusterRequestSystem, webhook: accessRequests, served: requestWebhook, access: Access{
			nil, rules("clusterrequest-webhook"),
		}},
	}
}

func requestResource(resource string) schema.GroupVersionResource {
	return openmcpv1alpha1.GroupVersion.WithResource(resource)
}

// clusterRequests adds the controller of ClusterRequests.
func (o Options) clusterRequests(mgr manager.Manager, settings queue.Settings) error {
	return controller.SetupRequests(mgr, settings, o.ClusterRequests)
}

// clustersInventory adds the controller that publishes Clusters as ManagedClusters.
func (o Options) clustersInventory(mgr manager.Manager, settings queue.Settings) error {
	return publish.Options{DrainTimeout: o.ClusterDrainTimeout, DefaultSet: o.ClustersInventorySet}.Setup(mgr, settings)
}

// requestWebhook is the webhook of AccessRequests, without its handlers.
var requestWebhook = webhookserver.Webhook{
	Mutating: webhook.Configuration, Manifests: "manifests/clusterrequest", Paths: []string{webhook.Path},
}

// accessRequests returns the handler of AccessRequests.
func accessRequests(manager.Manager, queue.Settings) (webhookserver.Webhook, error) {
	return webhookserver.Webhook{Handlers: webhook.Handlers()}, nil
}
