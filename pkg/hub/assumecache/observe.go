// SPDX-License-Identifier: Apache-2.0

package assumecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// event is a state that a watch has shown; the state of a deletion is the last one.
type event[T metav1.Object] struct {
	object  T
	deleted bool
}

// Pause defers the decision about events for an owner until Resume: a watch may show a write before its response has arrived.
func (c *Cache[K, T]) Pause(owner K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused[owner] = []event[T]{}
}

// Resume ends Pause, and reports whether an event since then has shown a write by others.
func (c *Cache[K, T]) Resume(owner K) (foreign bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, event := range c.paused[owner] {
		if !c.observe(owner, event.object, event.deleted) {
			foreign = true
		}
	}
	delete(c.paused, owner)
	return foreign
}

// Observe takes an event, and reports whether it shows an own write, or a state before it. An event that shows the last write ends it. While
// the owner is paused, Observe returns true, and Resume decides.
func (c *Cache[K, T]) Observe(owner K, object T, deleted bool) (own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if events, paused := c.paused[owner]; paused {
		c.paused[owner] = append(events, event[T]{object: object, deleted: deleted})
		return true
	}
	return c.observe(owner, object, deleted)
}

func (c *Cache[K, T]) observe(owner K, object T, deleted bool) (own bool) {
	name := nameOf(object)

	last, known := c.writes[owner][name]
	if !known {
		return false
	}
	same := last.object.GetUID() == object.GetUID()
	switch {
	case deleted && same:
		c.drop(owner, name)
		return last.deleted
	case deleted:
		return later(last.object, object) // An earlier object of the name, which was gone when this one was made.
	case last.deleted:
		return same || later(last.object, object)
	}

	order, ordered := consistency.Compare(object.GetResourceVersion(), last.object.GetResourceVersion())
	if !ordered || order >= 0 {
		c.drop(owner, name)
	}
	return ordered && order <= 0
}
