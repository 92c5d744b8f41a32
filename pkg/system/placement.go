package system

import (
	"context"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
)

// placementControllers returns the controllers of Placements.
func (o Options) placementControllers(enabled []string, shared *sharedinventory.Shared) []entry {
	setup := once(o.placement(enabled, shared).Setup) // One controller serves both APIs.

	return []entry{
		{name: controller.Name, setup: setup, access: Access{
			reads(clusters, sets, bindings, scores, clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
				clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions")),
			// The role also has what the controller runs without: events, finalizers, and reviews of those who ask for metrics.
			rules("placement", clusters.Resource, sets.Resource,
				"placementdecisions", "placementdecisions/status", "placements", "placements/status"),
		}},
		{name: controller.V1alpha1Name, setup: setup, access: Access{
			reads(clusters, sets, bindings, scores, placementv1alpha1.GroupVersion.WithResource("placements"),
				placementv1alpha1.GroupVersion.WithResource("placementdecisions")),
			append(rules("placement", clusters.Resource, sets.Resource),
				rules("placement-v1alpha1", "placementdecisions", "placements", "placements/status")...),
		}},
	}
}

// placement returns the options of the controllers of Placements.
func (o Options) placement(enabled []string, shared *sharedinventory.Shared) controller.Options {
	return controller.Options{
		Controllers: enabled, ProfileDecisions: o.ProfileDecisions, RemovalLimit: o.RemovalLimit, WarnRemovalPercent: o.WarnRemovalPercent,
		View: o.View, Inventory: shared,
	}
}

// Observe keeps o.View up to date without a controller: it needs no lease and writes nothing. The APIs of the view are those of the
// controllers in o.Controllers that serve Placements.
func Observe(ctx context.Context, mgr manager.Manager, o Options) error {
	enabled, err := o.Enabled()
	if err != nil {
		return err
	}

	return controller.Observe(ctx, mgr, o.settings(), o.placement(enabled, sharedinventory.New()))
}
