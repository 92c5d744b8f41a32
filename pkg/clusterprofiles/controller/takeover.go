// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// takeOver makes the fields of a ClusterProfile that the hub says the hub's where one of the former writers owns them, and returns the ClusterProfile
// after that. It looks at each ClusterProfile once: what a former writer writes later shows that it still runs, and stays that writer's.
func (r *reconciler) takeOver(
	ctx context.Context, key types.NamespacedName, profile *clusterinventory.ClusterProfile,
) (*clusterinventory.ClusterProfile, error) {
	if len(r.formerWriters) == 0 {
		return profile, nil
	}
	if _, looked := r.looked.known(key); looked {
		return profile, nil
	}
	if profile != nil && profile.Spec.ClusterManager.Name == clusterprofiles.ClusterManager {
		if _, owned := clusterprofiles.TakeOver(profile.ManagedFields, r.formerWriters); owned {
			taken, err := r.transfer(ctx, key)
			if err != nil {
				return nil, fmt.Errorf("taking over ClusterProfile %s: %w", key, err)
			}
			profile = taken
		}
	}
	r.looked.set(key, r.clock.Now())
	return profile, nil
}

// transfer writes the new owners of the fields of a ClusterProfile, and returns it; nil if there is none. The cache has no more of the owners than
// those of the hub and the former writers.
func (r *reconciler) transfer(ctx context.Context, key types.NamespacedName) (*clusterinventory.ClusterProfile, error) {
	list := &clusterinventory.ClusterProfileList{}
	err := r.slices.live.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err != nil || len(list.Items) == 0 {
		return nil, err //nolint:wrapcheck // Named by the caller.
	}
	profile := &list.Items[0]
	entries, owned := clusterprofiles.TakeOver(profile.ManagedFields, r.formerWriters)
	if !owned {
		return profile, nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": profile.ResourceVersion}, // Otherwise a conflict, as of an update.
	})
	if err != nil {
		return nil, fmt.Errorf("encoding its field managers: %w", err)
	}
	if err := r.client.Patch(ctx, profile, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return nil, err //nolint:wrapcheck // Named by the caller.
	}
	klog.FromContext(ctx).V(2).Info("Took over a ClusterProfile", "clusterProfile", key, "formerWriters", r.formerWriters)
	return profile, nil
}
