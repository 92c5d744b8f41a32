// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Broadcast passes on to any number of followers that something has changed. It is safe for concurrent use.
type Broadcast struct {
	version atomic.Uint64

	mu        sync.Mutex
	followers map[chan struct{}]bool
	// placements are the numbers of VersionOf, by a hash of the key: they take the same memory however many Placements come and go, and Placements
	// with the same hash share a number.
	placements [1 << 12]atomic.Uint64
	seed       maphash.Seed
}

// NewBroadcast returns a Broadcast without followers.
func NewBroadcast() *Broadcast {
	return &Broadcast{followers: map[chan struct{}]bool{}, seed: maphash.MakeSeed()}
}

// Changes implements dashboard.Hub.
func (b *Broadcast) Changes(ctx context.Context) <-chan struct{} {
	follower := make(chan struct{}, 1)
	b.mu.Lock()
	b.followers[follower] = true
	b.mu.Unlock()
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		delete(b.followers, follower)
		b.mu.Unlock()
	})
	return follower
}

// Version implements dashboard.Hub: it is 0 until something has changed.
func (b *Broadcast) Version() uint64 { return b.version.Load() }

// VersionOf implements dashboard.Hub.
func (b *Broadcast) VersionOf(placement inventory.Key) uint64 { return b.versionOf(placement).Load() }

// Touch notes that a Placement or its decisions have changed.
func (b *Broadcast) Touch(placement inventory.Key) {
	version := b.versionOf(placement)
	for {
		before := version.Load()
		if version.CompareAndSwap(before, max(before+1, uint64(time.Now().UnixNano()))) {
			return
		}
	}
}

func (b *Broadcast) versionOf(placement inventory.Key) *atomic.Uint64 {
	return &b.placements[maphash.Comparable(b.seed, placement)%uint64(len(b.placements))]
}

// Run passes on what changed receives until ctx ends.
func (b *Broadcast) Run(ctx context.Context, changed <-chan struct{}) {
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		b.version.Add(1)
		b.mu.Lock()
		for follower := range b.followers {
			select {
			case follower <- struct{}{}:
			default: // The pending notification covers this change too.
			}
		}
		b.mu.Unlock()
	}
}
