package inventory

import (
	"container/list"
	"strings"
	"sync"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// maxResultBytes bounds what the answers of one state of the world take together: some 400 answers that name each of 10,000 clusters.
	maxResultBytes = 64 << 20
	// minSubscribers is how many placements must ask the same before the answer is kept: one placement asks once per state of the world.
	minSubscribers = 2
)

// RequestIdentity is one text for all requests that name the same ClusterSets and predicates in the same order, and for no others.
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

// subscribers counts the enrolled placements by the identity of their request. Its mutex guards every answerCache that refers to it too, so
// that an answer cannot be kept after its subscribers have gone. It is safe for concurrent use.
type subscribers struct {
	mu     sync.Mutex
	counts map[string]int
}

func newSubscribers() *subscribers { return &subscribers{counts: map[string]int{}} }

// add counts a placement whose request has the identity.
func (s *subscribers) add(identity string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.counts[identity]++
}

// remove undoes add, and drops what the cache keeps for the identity when no two placements ask for it any more.
func (s *subscribers) remove(identity string, answers *resultCache) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.counts[identity]--

	if s.counts[identity] < minSubscribers {
		answers.drop(identity)
	}

	if s.counts[identity] == 0 {
		delete(s.counts, identity)
	}
}

// resultCache keeps the answers that several placements share, for one state of the world. Of the answers that exceed its limit, those that
// were asked for least recently are dropped.
type resultCache struct {
	subscribers *subscribers
	limit       int

	// The mutex of subscribers guards the fields below.
	results map[string]map[string]*list.Element // by the identity of the request, and by the rest of the key
	recent  *list.List                          // of *answerEntry, the one that was asked for last at the front
	bytes   int
}

// resultEntry is one answer. Its size is 0 until the answer is known.
type resultEntry struct {
	identity, rest string
	compute        any // a func() T that finds the answer at most once
	bytes          int
}

func newResultCache(s *subscribers, limit int) *resultCache {
	return &resultCache{subscribers: s, limit: limit, results: map[string]map[string]*list.Element{}, recent: list.New()}
}

// Memoize returns the answer of find for a request in the snapshot, or the one that was found before, as long as nothing has changed in the
// world but decisions. The rest tells apart the answers for requests of one identity. Answers are kept while at least two enrolled placements
// have a request of the identity; their size in bytes is an estimate.
func Memoize[T any](s *Snapshot, identity, rest string, find func() T, size func(T) int) T {
	once, shared := s.results.entry(identity, rest, func(entry *resultEntry) any {
		return sync.OnceValue(func() T {
			answer := find()
			s.results.setSize(entry, size(answer))

			return answer
		})
	}).(func() T)
	if !shared {
		return find()
	}

	return once()
}

// entry is how the answer to a question is found, which is new unless it was asked for before; nil when it is not to be kept.
func (c *resultCache) entry(identity, rest string, newFind func(*resultEntry) any) any {
	c.subscribers.mu.Lock()
	defer c.subscribers.mu.Unlock()

	if c.subscribers.counts[identity] < minSubscribers {
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

// setSize books the size of an answer, and makes room for it.
func (c *resultCache) setSize(entry *resultEntry, bytes int) {
	c.subscribers.mu.Lock()
	defer c.subscribers.mu.Unlock()

	if known := c.results[entry.identity][entry.rest]; known == nil || entryOf(known) != entry {
		return // It was dropped meanwhile.
	}

	entry.bytes = bytes + len(entry.identity) + len(entry.rest)
	c.bytes += entry.bytes

	for c.bytes > c.limit {
		c.remove(c.recent.Back())
	}
}

// drop drops the answers for requests of an identity; the mutex of subscribers must be held.
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
