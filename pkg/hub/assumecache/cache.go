// SPDX-License-Identifier: Apache-2.0

package assumecache

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// Cache keeps the writes of objects of type T by their owners.
type Cache[K comparable, T metav1.Object] struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	writes map[K]map[types.NamespacedName]write[T]
	// paused holds the events that came for an owner since Pause.
	paused map[K][]event[T]
}

// write is the last write of an object; the object of a deletion is the state that was deleted.
type write[T metav1.Object] struct {
	object  T
	deleted bool
	at      time.Time
}

// New returns an empty Cache.
func New[K comparable, T metav1.Object](c clock.PassiveClock) *Cache[K, T] {
	return &Cache[K, T]{clock: c, writes: map[K]map[types.NamespacedName]write[T]{}, paused: map[K][]event[T]{}}
}

// Assume keeps the response to a write of an object.
func (c *Cache[K, T]) Assume(owner K, object T) { c.assume(owner, object, false) }

// AssumeDeleted keeps that an object was deleted; the object is its last known state.
func (c *Cache[K, T]) AssumeDeleted(owner K, object T) { c.assume(owner, object, true) }

func (c *Cache[K, T]) assume(owner K, object T, deleted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes[owner] == nil {
		c.writes[owner] = map[types.NamespacedName]write[T]{}
	}
	c.writes[owner][nameOf(object)] = write[T]{object: object, deleted: deleted, at: c.clock.Now()}
}

// Forget drops all writes for an owner.
func (c *Cache[K, T]) Forget(owner K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.writes, owner)
}

// ForgetObject drops the write of one object.
func (c *Cache[K, T]) ForgetObject(owner K, name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(owner, name)
}

func (c *Cache[K, T]) drop(owner K, name types.NamespacedName) {
	delete(c.writes[owner], name)
	if len(c.writes[owner]) == 0 {
		delete(c.writes, owner)
	}
}

// List returns the objects of an owner: those that the informer cache holds, overlaid with the writes that it does not show yet.
func (c *Cache[K, T]) List(owner K, cached []T) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.writes[owner]) == 0 {
		return cached
	}
	result := make([]T, 0, len(cached))
	seen := map[types.NamespacedName]bool{}

	for _, object := range cached {
		name := nameOf(object)
		seen[name] = true

		last, known := c.writes[owner][name]
		switch {
		case !known:
			result = append(result, object)
		case last.deleted && last.object.GetUID() == object.GetUID():
			// The informer cache does not show the deletion yet.
		case !last.deleted && later(last.object, object):
			result = append(result, last.object)
		default:
			result = append(result, object)
		}
	}

	for name, last := range c.writes[owner] {
		if !seen[name] && !last.deleted {
			result = append(result, last.object)
		}
	}
	return result
}

// IfShown calls do if the watch has shown all writes for an owner and the owner is not paused. No write is assumed until do returns.
func (c *Cache[K, T]) IfShown(owner K, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, paused := c.paused[owner]; !paused && len(c.writes[owner]) == 0 {
		do()
	}
}

// later reports whether a is a later state than b. Where resourceVersions cannot be compared, the state of the informer cache wins, so that no
// write is kept for ever.
func later(a, b metav1.Object) bool { return consistency.Later(a, b, false) }

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
