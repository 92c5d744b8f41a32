// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/assumecache"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// state is what the event handlers and the reconciler share. Its fields are set once, and each is safe for concurrent use.
type state struct {
	*sharedinventory.Subscriber

	// kinds are the delivered kinds by the GroupKind of their keys.
	kinds map[inventory.GroupKind]federation.FederatedKind
	// works has the own writes of ManifestWorks that the cache does not show yet.
	works    *assumecache.Cache[inventory.Key, *workv1.ManifestWork]
	memories *memories
	// problems has those of which Events were sent.
	problems *problems.Memory[inventory.Key]
	links    *links
	// unguarded is set if others may change the works, before Synced.
	unguarded atomic.Bool
}

func newState(
	shared *sharedinventory.Shared, kinds []federation.FederatedKind, c clock.PassiveClock, formerRenewal func() time.Time,
) *state {
	s := &state{
		Subscriber: sharedinventory.NewSubscriber(shared), kinds: make(map[inventory.GroupKind]federation.FederatedKind, len(kinds)),
		works: assumecache.New[inventory.Key, *workv1.ManifestWork](c), memories: newMemories(), links: newLinks(),
		problems: problems.New[inventory.Key](c, formerRenewal),
	}
	for _, kind := range kinds {
		s.kinds[groupKind(kind)] = kind
	}

	sharedinventory.Track(s.Subscriber, "", s.works, func(*workv1.ManifestWork) client.Object { return &workv1.ManifestWork{} },
		func(object runtime.Object) *workv1.ManifestWork {
			work, _ := object.(*workv1.ManifestWork)
			return work
		})
	return s
}

// owns reports whether a key is that of a delivered object.
func (s *state) owns(key inventory.Key) bool {
	_, found := s.kinds[key.GroupKind]
	return found
}

// identity returns the identity of the object of a key.
func (s *state) identity(key inventory.Key) federation.Identity {
	return federation.Identity{NamespacedName: key.NamespacedName, Kind: s.kinds[key.GroupKind]}
}

// forget drops what is known of an object that is gone, and enqueues the objects that are concerned.
func (s *state) forget(key inventory.Key) {
	s.Shared.Inventory.Unsubscribe(key)
	s.ForgetWrites(key)
	s.memories.forget(key)
	s.problems.Forget(key)
	s.Queue.Forget(key)
	s.enqueue(queue.PriorityFleet, s.links.forget(key)...)
}

// release returns a function that drops what the inventory has of the delivered objects once the controller has ended. Another controller begins
// with the initial lists.
func (s *state) release(unhandle func()) func() {
	return func() {
		unhandle()
		for _, key := range s.memories.keys() {
			s.Shared.Inventory.Unsubscribe(key)
		}
		for _, kind := range s.kinds {
			s.Shared.Observed.Drop(resourceOf(kind))
		}
		s.Shared.Observed.Drop(namespaceResource)
	}
}

// enqueue enqueues objects. No metric has the causes.
func (s *state) enqueue(priority int, keys ...inventory.Key) { s.Enqueue(priority, "", keys...) }

// link updates what an object has to do with others, and enqueues those that are concerned.
func (s *state) link(key inventory.Key, of link) {
	concerned := slices.DeleteFunc(s.links.set(key, of), func(key inventory.Key) bool { return !s.owns(key) })
	s.enqueue(queue.PriorityFleet, concerned...)
}
