// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// heartbeats has when the hub saw the Leases renewed, and which Clusters depend on them. It is safe for concurrent use.
type heartbeats struct {
	mu          sync.Mutex
	known       map[types.NamespacedName]clusterrequest.Heartbeat
	subscribers map[types.NamespacedName]reconcile.Request
	// followed are the Leases of the providers of Clusters.
	followed map[reconcile.Request]types.NamespacedName
}

func newHeartbeats() *heartbeats {
	return &heartbeats{
		known:       map[types.NamespacedName]clusterrequest.Heartbeat{},
		subscribers: map[types.NamespacedName]reconcile.Request{},
		followed:    map[reconcile.Request]types.NamespacedName{},
	}
}

// follow subscribes a Cluster to the Lease of its provider. When the Lease is another one than before and is not there yet, the former one counts
// until it expires, renewed or not, so that the provider has time to follow. Before the first call that is a Lease of this name beside the
// Cluster.
func (h *heartbeats) follow(lease types.NamespacedName, subscriber reconcile.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	former, followed := h.followed[subscriber]
	if !followed {
		former = types.NamespacedName{Namespace: subscriber.Namespace, Name: lease.Name}
	}

	if former != lease {
		delete(h.subscribers, former)
		beat, counts := h.known[former]
		if _, there := h.known[lease]; !there && counts && former.Name == lease.Name {
			h.known[lease] = beat
		}
	}
	h.followed[subscriber], h.subscribers[lease] = lease, subscriber
}

// lastFollowed returns the Lease of the last call of follow for a Cluster.
func (h *heartbeats) lastFollowed(subscriber reconcile.Request) (lease types.NamespacedName, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lease, found = h.followed[subscriber]
	return lease, found
}

// subscribe has a Cluster depend on a Lease beside the one that it follows.
func (h *heartbeats) subscribe(lease types.NamespacedName, subscriber reconcile.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscribers[lease] = subscriber
}

// get returns what is known of a Lease.
func (h *heartbeats) get(lease types.NamespacedName) clusterrequest.Heartbeat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[lease]
}

// set takes a state of a Lease, and returns the Cluster that depends on it if that has to be looked at. It has not if the Lease was renewed
// while the renewal before counted: the Cluster is looked at when the last known renewal ends.
func (h *heartbeats) set(lease *coordinationv1.Lease, initial bool, now time.Time) (subscriber reconcile.Request, affected bool) {
	key := types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
	beat := clusterrequest.Heartbeat{
		Seen: now, Renewed: !initial, Duration: time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second,
	}
	if lease.Spec.RenewTime != nil {
		beat.RenewTime = lease.Spec.RenewTime.Time
	}
	h.mu.Lock()
	defer h.mu.Unlock()

	last, known := h.known[key]
	if known && last.RenewTime.Equal(beat.RenewTime) {
		beat.Seen, beat.Renewed = last.Seen, last.Renewed
	}
	h.known[key] = beat
	subscriber, subscribed := h.subscribers[key]
	return subscriber, subscribed && (!known || beat.Renewed != last.Renewed || beat.Duration != last.Duration || last.Expired(now))
}

// remove takes that a Lease is gone, and returns the Cluster that depends on it.
func (h *heartbeats) remove(lease types.NamespacedName) (subscriber reconcile.Request, affected bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, lease)
	subscriber, affected = h.subscribers[lease]
	return subscriber, affected
}

// unsubscribe drops the subscriptions of a Cluster that is gone.
func (h *heartbeats) unsubscribe(subscriber reconcile.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.followed, subscriber)
	for lease, of := range h.subscribers {
		if of == subscriber {
			delete(h.subscribers, lease)
		}
	}
}
