// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// requests converts every Version of a Placement once into a Request, and subscribes it to what the Request reads. It is safe for
// concurrent use.
type requests struct {
	compiler  *selector.Compiler
	inventory *inventory.Inventory
	served    servedAPIs

	mu        sync.Mutex
	converted map[inventory.Key]convertedRequest
}

type convertedRequest struct {
	version api.Version
	request *scheduling.Request
	// before is the Request of the spec that the decisions were last completely written for, while that is an earlier generation; nil if that spec is
	// not known.
	before *scheduling.Request
	// watchesRejected reports that the last status lists rejection reasons, so that events of rejected clusters must enqueue the Placement.
	watchesRejected bool
}

func newRequests(compiler *selector.Compiler, inv *inventory.Inventory, s servedAPIs) *requests {
	return &requests{compiler: compiler, inventory: inv, served: s, converted: map[inventory.Key]convertedRequest{}}
}

// of returns the Request of a Placement. A Request of an older generation does not replace the known one.
func (r *requests) of(placement *api.Placement) *scheduling.Request {
	if request := r.known(placement); request != nil {
		return request
	}
	key := placement.Key()
	request := placement.Request(r.compiler) // It can be slow to compile CEL, so it runs without the lock.
	r.mu.Lock()
	defer r.mu.Unlock()
	version := placement.Version()
	known, found := r.converted[key]
	found = found && known.version.UID == version.UID
	if found && known.version.Generation > version.Generation {
		return request
	}

	next := convertedRequest{version: version, request: request}
	if found {
		next.before = known.before
		applied := removalbudget.AppliedGeneration(placement.RemovalSubject())
		if applied == known.version.Generation && applied < version.Generation {
			next.before = known.request
		}
	}
	r.converted[key] = next
	r.inventory.Subscribe(key, r.withProfiles(key, request.Dependencies()))
	return request
}

// withProfiles adds ClusterProfiles to the dependencies of a Placement whose decisions are mirrored as references to them.
func (r *requests) withProfiles(key inventory.Key, dependencies inventory.Dependencies) inventory.Dependencies {
	if r.served.writesProfiles(key) {
		dependencies.Reads = append(dependencies.Reads, clusterinfo.Property{Kind: clusterinfo.ClusterProfile})
	}
	return dependencies
}

// updateDependencies subscribes the Placement to what the status of a result depends on. It returns true if an event may have been missed
// between the snapshot of the result and the subscription.
func (r *requests) updateDependencies(key inventory.Key, response *scheduling.Result) (missed bool) {
	if !r.updates(key, response) {
		return false // A newer request is evaluated once more.
	}
	dependencies := r.withProfiles(key, response.Dependencies())
	defer r.inventory.HoldViews(key, dependencies)() // It can be slow to evaluate selectors, so it runs without the lock.
	r.mu.Lock()
	defer r.mu.Unlock()

	known := r.converted[key]
	if known.request != response.Request || known.watchesRejected == response.ListsRejections() {
		return false
	}
	known.watchesRejected = response.ListsRejections()
	r.converted[key] = known
	return r.inventory.UpdateDependencies(key, dependencies) != response.Generation && known.watchesRejected
}

// updates reports whether a result is of the current request, and changes what the Placement depends on.
func (r *requests) updates(key inventory.Key, response *scheduling.Result) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.converted[key]
	return known.request == response.Request && known.watchesRejected != response.ListsRejections()
}

// known returns the Request of a Placement if it was converted before, or nil.
func (r *requests) known(placement *api.Placement) *scheduling.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.converted[placement.Key()]
	if !found || known.version != placement.Version() {
		return nil
	}
	return known.request
}

// before returns the Request of the spec that the decisions of a Placement were last completely written for, if the spec was changed since and the
// former one is known; nil otherwise. It is forgotten once the decisions are written for the present spec. The Placement may be of a later generation
// than the one on the hub.
func (r *requests) before(placement *api.Placement) *scheduling.Request {
	applied := removalbudget.AppliedGeneration(placement.RemovalSubject())
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.converted[placement.Key()]
	switch {
	case !found || known.version.UID != placement.UID || known.version.Generation > placement.Generation:
		return nil
	case applied == placement.Generation:
		if known.before != nil {
			known.before = nil
			r.converted[placement.Key()] = known
		}
		return nil
	case known.version.Generation < placement.Generation && applied == known.version.Generation:
		return known.request
	default:
		return known.before
	}
}

// keys returns the known Placements in any order.
func (r *requests) keys() []inventory.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.converted))
}

// mayOwn reports whether a page can belong to a known Placement of its name: no Placement of another uid owns it.
func (r *requests) mayOwn(key inventory.Key, page *api.Page) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.converted[key]
	owner := metav1.GetControllerOf(page)
	return found && (owner == nil || owner.UID == known.version.UID)
}

// remembers reports whether a Placement is known.
func (r *requests) remembers(key inventory.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.converted[key]
	return found
}

// forget unsubscribes a Placement that is gone or not managed.
func (r *requests) forget(key inventory.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.converted, key)
	r.inventory.Unsubscribe(key)
}
