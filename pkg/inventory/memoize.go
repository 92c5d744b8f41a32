// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"container/list"
	"strings"
	"sync"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// maxResultBytes limits the total size of the results for one state: about 400 results that name each of 10,000 clusters.
	maxResultBytes = 64 << 20
	// minSubscribers is how many subscribers must have the same request before its results are kept: a single subscriber needs each result
	// once per state.
	minSubscribers = 2
)

// RequestIdentity returns a text that is equal for two requests if and only if they have the same ClusterSets and predicates in the same
// order.
func RequestIdentity(clusterSets []string, predicates []*selector.Selector) string {
	var identity strings.Builder
	for _, set := range clusterSets {
		identity.WriteString(set)
		identity.WriteByte(0)
	}
	for _, predicate := range predicates {
		identity.WriteByte(0)
		identity.WriteString(predicate.Identity())
	}
	return identity.String()
}

// requestCounts counts the indexed subscribers by the identity of their request. Its mutex also guards every resultCache that refers to
// it, so that no result is kept after its subscribers have gone. It is safe for concurrent use.
type requestCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

func newRequestCounts() *requestCounts { return &requestCounts{counts: map[string]int{}} }

// add counts a subscriber whose request has the identity.
func (r *requestCounts) add(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[identity]++
}

// remove undoes add, and drops the results of the identity if fewer than minSubscribers are left.
func (r *requestCounts) remove(identity string, results *resultCache) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[identity]--
	if r.counts[identity] < minSubscribers {
		results.drop(identity)
	}
	if r.counts[identity] == 0 {
		delete(r.counts, identity)
	}
}

// resultCache keeps results that several subscribers share, for one state. If they exceed the limit, it drops the least recently used ones.
type resultCache struct {
	requests *requestCounts
	limit    int

	// The mutex of subscribers guards the fields below.
	results map[string]map[string]*list.Element // by the identity of the request, and by the rest of the key
	recent  *list.List                          // of *resultEntry, the most recently used at the front
	bytes   int
}

// resultEntry is one result. Its size is 0 until the result is computed.
type resultEntry struct {
	identity, rest string
	compute        any // a func() T that calls find at most once
	bytes          int
}

func newResultCache(r *requestCounts, limit int) *resultCache {
	return &resultCache{requests: r, limit: limit, results: map[string]map[string]*list.Element{}, recent: list.New()}
}

// entry returns the function that computes a result, and makes it with newFind if there is none; nil if the result is not to be kept.
func (c *resultCache) entry(identity, rest string, newFind func(*resultEntry) any) any {
	c.requests.mu.Lock()
	defer c.requests.mu.Unlock()
	if c.requests.counts[identity] < minSubscribers {
		return nil
	}
	if known := c.results[identity][rest]; known != nil {
		c.recent.MoveToFront(known)
		return entryOf(known).compute
	}

	entry := &resultEntry{identity: identity, rest: rest}
	entry.compute = newFind(entry)
	if c.results[identity] == nil {
		c.results[identity] = map[string]*list.Element{}
	}
	c.results[identity][rest] = c.recent.PushFront(entry)
	return entry.compute
}

// setSize sets the size of a result, and drops others if the total exceeds the limit.
func (c *resultCache) setSize(entry *resultEntry, bytes int) {
	c.requests.mu.Lock()
	defer c.requests.mu.Unlock()
	if known := c.results[entry.identity][entry.rest]; known == nil || entryOf(known) != entry {
		return // It has been dropped.
	}
	entry.bytes = bytes + len(entry.identity) + len(entry.rest)
	c.bytes += entry.bytes
	for c.bytes > c.limit {
		c.remove(c.recent.Back())
	}
}

// drop drops the results of an identity. The caller holds the mutex of subscribers.
func (c *resultCache) drop(identity string) {
	for _, known := range c.results[identity] {
		c.remove(known)
	}
}

func (c *resultCache) remove(known *list.Element) {
	entry := entryOf(known)
	c.bytes -= entry.bytes
	c.recent.Remove(known)
	delete(c.results[entry.identity], entry.rest)
	if len(c.results[entry.identity]) == 0 {
		delete(c.results, entry.identity)
	}
}

func entryOf(element *list.Element) *resultEntry {
	entry, _ := element.Value.(*resultEntry)
	return entry
}
