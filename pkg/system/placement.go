// SPDX-License-Identifier: Apache-2.0

package system

import (
	"context"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
)

// placements returns the system of Placements.
func (o *Options) placements(enabled []string, shared *sharedinventory.Shared) systems.Entry {
	setup := once(o.placement(enabled, shared).Setup) // One controller serves both APIs.
	return systems.Entry{
		Groups: []systems.Group{
			{Name: clusterv1beta1.GroupName, Hint: "apply the CustomResourceDefinitions in manifests/crds, or those of Open Cluster Management v1.3"},
			{
				Name: placementv1alpha1.GroupName,
				Hint: "apply the CustomResourceDefinitions in manifests/crds, or leave the controller placement-v1alpha1 off",
			},
			{
				Name: clusterinventory.Group,
				Hint: "apply the CustomResourceDefinitions in manifests/multicluster, or leave --sig-placement-decisions off",
			},
		},
		Controllers: []systems.Controller{
			{Name: controller.Name, Setup: setup, Access: systems.Access{
				Reads: inventoryReads(clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
					clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions")),
				// The role also has what the controller runs without: events, finalizers, and reviews of those who ask for metrics.
				Rules: rules("placement", clusters.Resource, sets.Resource, bindings.Resource,
					"placementdecisions", "placementdecisions/status", "placements", "placements/status"),
			}},
			{Name: controller.V1alpha1Name, Setup: setup, Access: systems.Access{
				Reads: inventoryReads(placementv1alpha1.GroupVersion.WithResource("placements"),
					placementv1alpha1.GroupVersion.WithResource("placementdecisions")),
				Rules: append(rules("placement", clusters.Resource, sets.Resource, bindings.Resource),
					rules("placement-v1alpha1", "placementdecisions", "placements", "placements/status")...),
			}},
		},
		Sample: &systems.Sample{Name: "fleet", Short: "fleet has clusters and placements", Controllers: []string{"*"}},
	}
}

// placement returns the options of the controllers of Placements.
func (o *Options) placement(enabled []string, shared *sharedinventory.Shared) controller.Options {
	return controller.Options{
		Controllers: enabled, ProfileDecisions: o.ProfileDecisions, RemovalLimit: o.RemovalLimit, WarnRemovalPercent: o.WarnRemovalPercent,
		View: o.View, Inventory: shared, History: o.Recorder,
	}
}

// Observe keeps o.View up to date without a controller: it needs no lease and writes nothing. The APIs of the view are those of the
// controllers in o.Controllers that serve Placements.
func Observe(ctx context.Context, mgr manager.Manager, o Options) error {
	enabled, err := o.Enabled()
	if err != nil {
		return err
	}
	return controller.Observe(ctx, mgr, o.settings(), o.placement(enabled, newInventory(enabled)))
}
