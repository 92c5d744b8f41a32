// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// reader reads Placements and their decisions from the cache, with the last own writes.
type reader struct {
	// state is shared with the event handlers.
	state  *state
	client client.Client
}

// placement returns a Placement with the last status that was written, or nil if there is none.
func (r *reader) placement(ctx context.Context, key inventory.Key) (*api.Placement, error) {
	adapter := api.Of(key)
	cached := adapter.Empty()

	err := r.client.Get(ctx, key.NamespacedName, cached, client.UnsafeDisableDeepCopy) // It is only read.
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Placement %s: %w", key, err)
	}
	for _, latest := range r.state.statuses.List(key, []*api.Placement{adapter.Read(cached)}) {
		return latest, nil
	}
	return nil, nil // It is gone; the cache does not know it yet.
}

// existing returns the PlacementDecisions of a Placement in a format, with the last own writes.
func (r *reader) existing(ctx context.Context, codec api.Codec, p *api.Placement) (placement.Existing, error) {
	list, ok := codec.EmptyList().(client.ObjectList)
	if !ok {
		return placement.Existing{}, fmt.Errorf("listing PlacementDecisions of Placement %s: %T is no list", klog.KObj(p), codec.EmptyList())
	}
	err := r.client.List(ctx, list, client.InNamespace(p.Namespace), client.MatchingFields{placementField: p.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return placement.Existing{}, fmt.Errorf("listing PlacementDecisions of Placement %s: %w", klog.KObj(p), err)
	}
	var cached []*api.Page

	err = meta.EachListItem(list, func(object runtime.Object) error {
		cached = append(cached, codec.Read(object))
		return nil
	})
	if err != nil {
		return placement.Existing{}, fmt.Errorf("reading PlacementDecisions of Placement %s: %w", klog.KObj(p), err)
	}
	existing := placement.NewExisting(codec, p, r.state.pages[codec].List(p.Key(), cached))
	existing.Before, existing.TakenOut = r.state.requests.before(p), r.state.takenOut.of(p.Key())
	return existing, nil
}
