package system

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/federation/controller"
	"github.com/placement-hub/placement-hub/pkg/federation/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const federationSystem = "federation"

// federationControllers returns the controllers of the system for federated objects.
func (o Options) federationControllers(shared *sharedinventory.Shared) []entry {
	federated := federationSetup{o.federation(shared)} // They share an index.

	return []entry{
		{name: controller.Objects, system: federationSystem, setup: federated.Setup, access: Access{
			reads(clusters, sets, bindings, scores, clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
				schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks")),
			rules("federation"),
		}},
		{name: webhook.Controller, system: federationSystem, webhook: federated.webhook, served: federationWebhook, access: Access{
			reads(clusters, sets, bindings, scores, clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
				schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks")),
			rules("federation-webhook"),
		}},
	}
}

// federationWebhook is the webhook of federated objects, without its handlers.
var federationWebhook = webhookserver.Webhook{
	Validating: webhook.Configuration, Manifests: "manifests/federation", Paths: []string{webhook.Path},
}

// federationSetup sets up the controllers of federated objects.
type federationSetup struct{ controller.Options }

// webhook returns the handler of federated objects.
func (f federationSetup) webhook(mgr manager.Manager, s queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := f.Handlers(mgr, s)

	return webhookserver.Webhook{Handlers: handlers}, err
}

// federation returns the options of the controller of federated objects.
func (o Options) federation(shared *sharedinventory.Shared) controller.Options {
	return controller.Options{
		Kinds: o.federatedKinds, Inventory: shared, MaxRemovalPercent: ptr.Deref(o.RemovalLimit.Percent, removalbudget.NoLimit),
		ScopeHold:  ptr.Deref(o.RemovalLimit.LostScopeHold, removalbudget.DefaultLostScopeHold),
		IndexWorks: once(controller.IndexWorks),
	}
}
