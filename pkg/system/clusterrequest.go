// SPDX-License-Identifier: Apache-2.0

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
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// clusterRequest returns the system of ClusterRequests.
func (o *Options) clusterRequest() systems.Entry {
	return systems.Entry{
		Name: "clusterrequest",
		Groups: []systems.Group{{
			Name: openmcpv1alpha1.GroupName,
			Hint: "apply manifests/clusterrequest, or leave the controllers clusterrequest/* and clusters-inventory off",
		}},
		Controllers: []systems.Controller{
			{Name: controller.Requests, Setup: o.clusterRequests, Access: systems.Access{
				Reads: reads(requestResource("clusterrequests"), requestResource("clusterrequestgrants"), requestResource("clusters"),
					requestResource("purposes"), requestResource("clusterproviders"), requestResource("traitequivalences")),
				Rules: rules("clusterrequest-requests"),
			}},
			{Name: access.Name, Setup: access.Setup, Access: systems.Access{
				Reads: reads(requestResource("accessrequests"), requestResource("clusterrequests"), requestResource("clusterrequestgrants"),
					requestResource("clusters"), requestResource("clusterproviders"), clusterRoles, clusterRoleBindings,
					rbacv1.SchemeGroupVersion.WithResource("roles"), roleBindings),
				Rules: rules("clusterrequest-accessrequests"),
			}},
			{Name: publish.Name, Setup: o.clustersInventory, Access: systems.Access{
				Reads: reads(requestResource("clusters"), requestResource("clusterproviders"), clusters,
					clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
					corev1.SchemeGroupVersion.WithResource("serviceaccounts"), roleBindings,
					coordinationv1.SchemeGroupVersion.WithResource("leases")),
				Rules: rules("clusters-inventory"),
			}},
			{Name: webhook.Controller, Webhook: accessRequests, Served: requestWebhook, Access: systems.Access{
				Rules: rules("clusterrequest-webhook"),
			}},
		},
		Flags: o.addClusterRequestFlags, Validate: o.validateClusterRequests, Unused: o.unusedClusterRequestFlags,
		Finalizers: requestFinalizers(),
		Sample: &systems.Sample{
			Name: "clusters", Short: "clusters has requests for clusters, and providers that make them",
			// The inventory writes which clusters are available, and the set of each of them.
			Controllers: []string{"*", "-" + clusterDefaults, "federation/*", "clusterrequest/*"},
			Alone:       "which starts API servers beside a control plane of its own",
			Text: `With --sample=clusters users ask the hub for clusters: a platform has purposes and two providers, of which one runs a real
API server for each cluster, and four ClusterRequests, of which two share a cluster and one is denied. The table has the
requests, their clusters and the Placements that select them.`,
			Example: `  # Clusters on request, which Placements select
  placement run --sample=clusters`,
		},
	}
}

func requestResource(resource string) schema.GroupVersionResource {
	return openmcpv1alpha1.GroupVersion.WithResource(resource)
}

// clusterRequests adds the controller of ClusterRequests.
func (o *Options) clusterRequests(mgr manager.Manager, settings queue.Settings) error {
	return controller.SetupRequests(mgr, settings, o.ClusterRequests, o.Recorder)
}

// clustersInventory adds the controller that publishes Clusters as ManagedClusters.
func (o *Options) clustersInventory(mgr manager.Manager, settings queue.Settings) error {
	return publish.Options{DrainTimeout: o.ClusterDrainTimeout, DefaultSet: o.ClustersInventorySet}.Setup(mgr, settings)
}

// requestWebhook is the webhook of AccessRequests, without its handlers.
var requestWebhook = webhookserver.Webhook{
	Mutating: webhook.Configuration, Paths: []string{webhook.Path},
}

// accessRequests returns the handler of AccessRequests.
func accessRequests(manager.Manager, queue.Settings) (webhookserver.Webhook, error) {
	return webhookserver.Webhook{Handlers: webhook.Handlers()}, nil
}
