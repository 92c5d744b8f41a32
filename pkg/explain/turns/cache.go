// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"container/list"
	"sync"
)

// Cache keeps a number of values for all tenants. If there is one more, the tenant with the most values loses the one that was not used for the
// longest time, so a tenant cannot evict the values of others. The LRU caches of libraries have no such shares. Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	values map[K]*list.Element
	of     map[Tenant]*list.List // of *kept[K, V], the last used one first
}

type kept[K comparable, V any] struct {
	tenant Tenant
	key    K
	value  V
}

// NewCache returns an empty Cache of at most so many values, from 1.
func NewCache[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: most, values: map[K]*list.Element{}, of: map[Tenant]*list.List{}}
}

// Get returns the value of a key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (value V, has bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, has := c.values[key]
	if !has {
		return value, false
	}
	found := valueOf[K, V](element)
	c.of[found.tenant].MoveToFront(element)
	return found.value, true
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.values)
}

// Add sets the value of a key of a tenant. A key belongs to one tenant.
func (c *Cache[K, V]) Add(tenant Tenant, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, has := c.values[key]; has {
		found := valueOf[K, V](element)
		found.value = value
		c.of[found.tenant].MoveToFront(element)
		return
	}
	own := c.of[tenant]
	if own == nil {
		own = list.New()
		c.of[tenant] = own
	}
	c.values[key] = own.PushFront(&kept[K, V]{tenant, key, value})
	if len(c.values) > c.most {
		c.evict()
	}
}

// Remove removes the value of a key, if there is one.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, has := c.values[key]; has {
		c.remove(element)
	}
}

// evict drops a value of the tenant with the most values.
func (c *Cache[K, V]) evict() {
	var tenant Tenant
	var most *list.List
	for other, values := range c.of {
		if most == nil || values.Len() > most.Len() || values.Len() == most.Len() && other < tenant {
			tenant, most = other, values
		}
	}
	c.remove(most.Back())
}

func (c *Cache[K, V]) remove(element *list.Element) {
	found := valueOf[K, V](element)
	own := c.of[found.tenant]
	delete(c.values, found.key)
	own.Remove(element)
	if own.Len() == 0 {
		delete(c.of, found.tenant)
	}
}

func valueOf[K comparable, V any](element *list.Element) *kept[K, V] {
	value, _ := element.Value.(*kept[K, V]) // The lists have no others.
	return value
}
