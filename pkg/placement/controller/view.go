// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// View gives read access to the state of the controllers, on the leader, which sees its own writes before its cache does, and on a standby
// alike. Setup or Observe connects it; before that it serves no API. It is safe for concurrent use from then on.
type View struct {
	known *reader
}

// connect connects the view to a reader; a nil view ignores it.
func (v *View) connect(known *reader) {
	if v != nil {
		v.known = known
	}
}

// Serves reports whether the view has the Placements of an API.
func (v *View) Serves(adapter api.Adapter) bool {
	return v.known != nil && slices.Contains(v.known.state.served.apis, adapter)
}

// Synced reports whether the initial lists were handled. Before that, only Serves may be called.
func (v *View) Synced() bool { return v.known != nil && v.known.state.Synced.Load() }

// Placement returns a Placement, or nil if there is none. It is shared and must not be changed.
func (v *View) Placement(ctx context.Context, key inventory.Key) (*api.Placement, error) {
	return v.known.placement(ctx, key)
}

// Present returns the existing decisions of a Placement, which may differ from the Placement on the hub.
func (v *View) Present(ctx context.Context, placement *api.Placement) (placement.Existing, error) {
	return v.known.existing(ctx, placement.API.Codec(), placement)
}

// Snapshot returns the current snapshot of the inventory without a subscription.
func (v *View) Snapshot() *inventory.Snapshot { return v.known.state.inventory.Snapshot() }

// Options returns how the hub evaluates Placements, as far as this process knows.
func (v *View) Options() placement.Options { return v.known.state.served.options() }
