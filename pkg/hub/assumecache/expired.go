// SPDX-License-Identifier: Apache-2.0

package assumecache

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Expiry is after which time Expired returns a write whose event has not come, and how often from then on.
const Expiry = 30 * time.Second

// Write is a write whose event has not come for Expiry.
type Write[K comparable, T metav1.Object] struct {
	Owner K
	// Object is the state that was written, or the last one before a deletion.
	Object  T
	Deleted bool
}

// ShownBy reports whether the informer cache, which holds the given state or none, has caught up with the write.
func (w Write[K, T]) ShownBy(cached T, found bool) bool {
	if w.Deleted {
		return !found || cached.GetUID() != w.Object.GetUID()
	}
	return found && !later(w.Object, cached)
}

// IsLatest reports whether the write is the last change of the object, of which the API server holds the given state or none.
func (w Write[K, T]) IsLatest(live metav1.Object, found bool) bool {
	if w.Deleted {
		return !found
	}
	return found && live.GetUID() == w.Object.GetUID() && live.GetResourceVersion() == w.Object.GetResourceVersion()
}

// Expired returns the writes whose events have not come for Expiry, the oldest first and at most limit. The Cache keeps them, and Expired
// returns them again after another Expiry.
func (c *Cache[K, T]) Expired(limit int) []Write[K, T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	type aged struct {
		Write[K, T]

		at time.Time
	}
	var expired []aged

	for owner, writes := range c.writes {
		for _, last := range writes {
			if c.clock.Since(last.at) >= Expiry {
				expired = append(expired, aged{Write[K, T]{Owner: owner, Object: last.object, Deleted: last.deleted}, last.at})
			}
		}
	}
	slices.SortFunc(expired, func(a, b aged) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(nameOf(a.Object).String(), nameOf(b.Object).String()))
	})

	expired = expired[:min(limit, len(expired))]
	writes := make([]Write[K, T], 0, len(expired))
	for _, one := range expired {
		writes = append(writes, one.Write)
		c.writes[one.Owner][nameOf(one.Object)] = write[T]{object: one.Object, deleted: one.Deleted, at: c.clock.Now()}
	}
	return writes
}

// Drop ends a write, unless another one has taken its place, and reports whether it did.
func (c *Cache[K, T]) Drop(w Write[K, T]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := nameOf(w.Object)
	last, known := c.writes[w.Owner][name]
	if !known || last.deleted != w.Deleted || last.object.GetUID() != w.Object.GetUID() ||
		last.object.GetResourceVersion() != w.Object.GetResourceVersion() {
		return false
	}
	c.drop(w.Owner, name)
	return true
}
