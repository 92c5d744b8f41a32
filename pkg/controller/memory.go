package controller

import (
	"sync/atomic"

	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// memory is what feed and reconciler of the placements share.
type memory struct {
	inventory *inventory.Inventory
	requests  *requests
	pages     *readback[*clusterv1beta1.PlacementDecision]
	statuses  *readback[*clusterv1beta1.Placement]
	// synced is set once the initial lists are in the inventory. Before that there is no answer: a world that is half known would
	// empty decisions.
	synced atomic.Bool
}

func newMemory(c clock.PassiveClock) *memory {
	compiler := selector.NewCompiler()
	inv := inventory.New(compiler)

	return &memory{
		inventory: inv,
		requests:  newRequests(compiler, inv),
		pages:     newReadback[*clusterv1beta1.PlacementDecision](c),
		statuses:  newReadback[*clusterv1beta1.Placement](c),
	}
}

// forget drops all that is remembered of a placement that is gone, or that others schedule.
func (m *memory) forget(key inventory.PlacementKey) {
	m.requests.forget(key)
	m.forgetWrites(key)
}

// forgetWrites drops what was written for a placement, when the API server has shown that it is not so.
func (m *memory) forgetWrites(key inventory.PlacementKey) {
	m.pages.forget(key)
	m.statuses.forget(key)
}
