// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// AllFromCluster reads the State of a hub; Placements and bindings only of one namespace, unless it is empty. The hub may lack the API v1alpha1.
// State.Uncounted names it when it has no Placements and the user may not list its decisions.
func AllFromCluster(ctx context.Context, hub client.Reader, namespace string) (*explain.State, error) {
	r := &reader{hub: hub}
	state := &explain.State{
		Clusters:    read[*clusterv1.ManagedCluster](ctx, r, "ManagedClusters", "", &clusterv1.ManagedClusterList{}),
		ClusterSets: read[*clusterv1beta2.ManagedClusterSet](ctx, r, "ManagedClusterSets", "", &clusterv1beta2.ManagedClusterSetList{}),
		Scores:      read[*clusterv1alpha1.AddOnPlacementScore](ctx, r, "AddOnPlacementScores", "", &clusterv1alpha1.AddOnPlacementScoreList{}),
		Bindings: read[*clusterv1beta2.ManagedClusterSetBinding](
			ctx, r, "ManagedClusterSetBindings", namespace, &clusterv1beta2.ManagedClusterSetBindingList{}),
	}

	for _, adapter := range api.Adapters() {
		r.readAllOf(ctx, state, adapter, namespace)
	}

	if err := r.err(); err != nil {
		return nil, err
	}

	return state, nil
}

// readAllOf adds the Placements of an API and all its decisions. Decisions that may not be listed are left out when the API has no
// Placements.
func (r *reader) readAllOf(ctx context.Context, state *explain.State, adapter api.Adapter, namespace string) {
	if r.failed != nil {
		return
	}

	placements, err := list[api.Object](ctx, r.hub, namespace, adapter.EmptyList())
	none := err == nil && len(placements) == 0

	switch {
	case err == nil:
		state.Placements = append(state.Placements, placements...)
	case adapter != api.V1beta1 && isUnserved(err):
		return // Then there is nothing of it.
	default:
		r.record(nameOf("Placements", adapter), err)
	}

	decisions, err := list[api.Object](ctx, r.hub, "", adapter.Codec().EmptyList())

	switch {
	case err == nil:
		state.Decisions = append(state.Decisions, decisions...)
	case adapter != api.V1beta1 && none && apierrors.IsForbidden(err):
		state.Uncounted = append(state.Uncounted, adapter)
	default:
		r.record(nameOf("PlacementDecisions", adapter), err)
	}
}
