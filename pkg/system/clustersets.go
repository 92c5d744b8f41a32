package system

import (
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clustersets/controller"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// clusterSetControllers returns the controllers of ManagedClusterSets, of their bindings, and of ManagedClusters.
func clusterSetControllers() []entry {
	return []entry{
		{name: controller.ClusterSet, setup: controller.SetupClusterSet, access: Access{
			reads(clusters, sets, bindings), rules("sets", sets.Resource, sets.Resource+"/status"),
		}},
		{name: controller.ClusterSetBinding, setup: controller.SetupClusterSetBinding, access: Access{
			reads(clusters, sets, bindings), rules("sets", bindings.Resource+"/status"),
		}},
		{name: controller.ClusterSetBindingRBAC, setup: controller.SetupClusterSetBindingRBAC, access: Access{
			reads(sets, bindings, clusterRoles, clusterRoleBindings, namespaces),
			rules("clustersetbinding-rbac"),
		}},
		{name: controller.ClusterSetRoles, setup: controller.SetupClusterSetRoles, access: Access{
			reads(sets, clusterRoles), rules("clusterset-roles"),
		}},
		{name: managedcluster.ManagedClusterTaints, setup: managedcluster.SetupManagedClusterTaints, access: Access{
			reads(clusters), rules("managedcluster-taints"),
		}},
		// The webhook configurations and the Secret are watched by their names, and may be missing.
		{name: webhook.Controller, webhook: managedClusterDefaults, access: Access{nil, rules("managedcluster-defaults")}},
		{name: managedcluster.Vocabulary, setup: managedcluster.SetupVocabulary, access: Access{
			reads(clusters, sets, bindings), rules("vocabulary"),
		}},
	}
}

// managedClusterDefaults returns the webhook for ManagedClusters.
func managedClusterDefaults(mgr manager.Manager, s queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := webhook.NewHandlers(s.Clock, mgr.GetAPIReader())

	return webhookserver.Webhook{
		Controller: webhook.Controller, Manifests: "manifests/webhook", Handlers: handlers,
		Mutating: webhook.Configuration, Validating: webhook.Configuration,
	}, err
}
