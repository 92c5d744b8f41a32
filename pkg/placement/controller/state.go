// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// state is what the event handlers and the reconciler share. Its fields are set once, and each is safe for concurrent use.
type state struct {
	*sharedinventory.Subscriber

	served servedAPIs
	clock  clock.PassiveClock
	// inventory is that of the Subscriber.
	inventory *inventory.Inventory
	requests  *requests
	pages     map[api.Codec]*assumecache.Cache[inventory.Key, *api.Page]
	statuses  *assumecache.Cache[inventory.Key, *api.Placement]
	// placements are the states of the Placements for the gauges.
	placements *metrics.PlacementStates[inventory.Key]
	// contents finds pages that others have edited.
	contents *contents
	// takenOut has what others have taken out of decisions.
	takenOut *takenOut
	// quarantine has the Placements whose CEL expressions cost too much.
	quarantine scheduling.Quarantine
	// deciding is locked while a result that depends on the decisions of others is computed and assumed (docs/spec/differences.md B9). No
	// request is sent under the lock.
	deciding sync.Mutex
}

// newState returns the state of the Placements in a shared inventory, whose changes enqueue them.
func newState(shared *sharedinventory.Shared, served servedAPIs, c clock.PassiveClock) *state {
	pages := map[api.Codec]*assumecache.Cache[inventory.Key, *api.Page]{}
	for _, codec := range served.forms() {
		pages[codec] = assumecache.New[inventory.Key, *api.Page](c)
	}

	s := &state{
		Subscriber: sharedinventory.NewSubscriber(shared),
		served:     served,
		clock:      c,
		inventory:  shared.Inventory,
		requests:   newRequests(shared.Compiler, shared.Inventory, served),
		pages:      pages,
		statuses:   assumecache.New[inventory.Key, *api.Placement](c),
		placements: metrics.NewPlacementStates[inventory.Key](),
		contents:   newContents(),
		takenOut:   newTakenOut(c),
	}
	s.Counted, s.Settled = true, s.countWritten

	for codec, writes := range pages {
		sharedinventory.Track(s.Subscriber, "decision", writes, func(*api.Page) client.Object { return codec.Empty() }, codec.Read)
	}
	sharedinventory.Track(s.Subscriber, "placement", s.statuses, func(of *api.Placement) client.Object { return of.API.Empty() }, api.Read)
	shared.Handle(func(subscriber inventory.Key) bool { return subscriber.API() != "" }, s.EnqueueAffected)
	return s
}

// forget drops the state of a Placement that is gone or not managed.
func (s *state) forget(key inventory.Key) {
	s.requests.forget(key)
	s.quarantine.Forget(key)
	s.ForgetWrites(key)
	s.Queue.Forget(key)
	s.placements.Forget(key)
	s.contents.forget(key)
	s.takenOut.forget(key)
}

// skip drops the state of a Placement that is not managed, except that it exists.
func (s *state) skip(placement *api.Placement) {
	reason := "disabled"
	if !placement.DeletionTimestamp.IsZero() {
		reason = "deleting"
	}
	s.forget(placement.Key())
	s.placements.Note(placement.Key(), metrics.PlacementState{Skipped: reason})
}

// managed reports whether the hub schedules the Placement: it is neither disabled nor being deleted.
func managed(placement *api.Placement) bool {
	managed, _ := placement.Managed()
	return managed
}

// countWritten ends the assumption of a result once the watch has shown all pages that were written for it, unless the Placement is being
// reconciled.
func (s *state) countWritten(key inventory.Key) {
	s.pages[api.Of(key).Codec()].IfShown(key, func() { s.inventory.ForgetAssumed(key) })
}
