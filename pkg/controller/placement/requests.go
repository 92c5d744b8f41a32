package placement

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// requests lowers every placement once per generation, and tells the inventory what it looks at. It is safe for concurrent use.
type requests struct {
	compiler  *selector.Compiler
	inventory *inventory.Inventory
	outputs   servedAPIs

	mu      sync.Mutex
	lowered map[inventory.PlacementKey]loweredRequest
}

type loweredRequest struct {
	uid        types.UID
	generation int64
	request    *scheduling.Request
	// watchesRejected says that the placement is told of every cluster in scope, because what is written of its last answer tells of them.
	watchesRejected bool
}

func newRequests(compiler *selector.Compiler, inv *inventory.Inventory, o servedAPIs) *requests {
	return &requests{compiler: compiler, inventory: inv, outputs: o, lowered: map[inventory.PlacementKey]loweredRequest{}}
}

// of is the request of a placement. The answer for an older generation than the last one does not replace it.
func (r *requests) of(placement *record.Placement) *scheduling.Request {
	if request := r.known(placement); request != nil {
		return request
	}

	key := placement.Key()
	request := placement.Request(r.compiler) // May take its time over CEL, so it holds up nobody else.

	r.mu.Lock()
	defer r.mu.Unlock()

	if known, found := r.lowered[key]; found && known.uid == placement.UID && known.generation > placement.Generation {
		return request
	}

	r.lowered[key] = loweredRequest{uid: placement.UID, generation: placement.Generation, request: request}

	r.inventory.Subscribe(key, r.withProfiles(key, request.Dependencies()))

	return request
}

// withProfiles is an interest with what is written beside the answer.
func (r *requests) withProfiles(key inventory.PlacementKey, interest inventory.Dependencies) inventory.Dependencies {
	if r.outputs.writesProfiles(key) {
		interest.Reads = append(interest.Reads, clusterinfo.Property{Kind: clusterinfo.ClusterProfile})
	}

	return interest
}

// updateDependencies has the placement told of what its answer depends on from now on. It reports whether something of that may have happened since
// the answer was found.
func (r *requests) updateDependencies(key inventory.PlacementKey, answer *scheduling.Result) (missed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	known := r.lowered[key]
	if known.request != answer.Request || known.watchesRejected == answer.ListsRejections() {
		return false // A newer request is evaluated once more.
	}

	known.watchesRejected = answer.ListsRejections()
	r.lowered[key] = known

	return r.inventory.UpdateDependencies(key, r.withProfiles(key, answer.Dependencies())) != answer.Generation && known.watchesRejected
}

// known is the request of a placement if it was lowered before; nil if it was not.
func (r *requests) known(placement *record.Placement) *scheduling.Request {
	r.mu.Lock()
	defer r.mu.Unlock()

	known, found := r.lowered[placement.Key()]
	if !found || known.uid != placement.UID || known.generation != placement.Generation {
		return nil
	}

	return known.request
}

// keys are the placements that were lowered and are not forgotten, in any order.
func (r *requests) keys() []inventory.PlacementKey {
	r.mu.Lock()
	defer r.mu.Unlock()

	return slices.Collect(maps.Keys(r.lowered))
}

// remembers reports whether something is known of a placement.
func (r *requests) remembers(key inventory.PlacementKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	_, found := r.lowered[key]

	return found
}

// forget drops a placement that is gone, or that others schedule.
func (r *requests) forget(key inventory.PlacementKey) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.lowered, key)
	r.inventory.Unsubscribe(key)
}
