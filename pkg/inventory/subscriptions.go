// SPDX-License-Identifier: Apache-2.0

package inventory

import "slices"

// Subscribe declares the dependencies of an object, and replaces the former ones. Affected returns the object only after the next
// SnapshotFor, with which it has to be evaluated.
func (i *Inventory) Subscribe(key Key, dependencies Dependencies) {
	i.mu.Lock()
	defer i.mu.Unlock()
	unused := i.unindex(i.subscribers.byKey[key])
	i.subscribers.byKey[key] = &subscriber{key: key, dependencies: dependencies}
	i.release(unused)
}

// UpdateDependencies replaces the dependencies of a subscriber, and returns the generation after which they apply: for changes up
// to that generation, Affected has used the old ones. It keeps the cached verdicts of predicates in both, and ignores an object that
// never subscribed.
func (i *Inventory) UpdateDependencies(key Key, dependencies Dependencies) (generation uint64) {
	defer i.HoldViews(key, dependencies)()
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.subscribers.byKey[key]
	if before == nil {
		return i.generation
	}
	after := &subscriber{key: key, dependencies: dependencies}
	i.subscribers.byKey[key] = after

	if before.indexed {
		i.index(after)
	}
	generation = i.generation
	i.release(i.unindex(before)) // After index, so that views of both keep a reference.
	return generation
}

// HoldViews evaluates the predicates and clauses of dependencies with which an indexed subscriber is about to be updated, so that a caller
// can hold a lock of its own during UpdateDependencies. The caller must call release afterwards.
func (i *Inventory) HoldViews(key Key, dependencies Dependencies) (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if s := i.subscribers.byKey[key]; s == nil || !s.indexed {
		return func() {}
	}
	held := i.hold(dependencies.selectors())
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.release(held)
	}
}

// indexCurrent adds the subscriber of a key to the indexes. It releases the mutex while it evaluates selectors, and begins again if the
// dependencies have changed meanwhile.
func (i *Inventory) indexCurrent(key Key) {
	for s := i.subscribers.byKey[key]; s != nil && !s.indexed; s = i.subscribers.byKey[key] {
		held := i.hold(s.dependencies.selectors())
		if i.subscribers.byKey[key] == s {
			i.index(s)
		}
		i.release(held)
	}
}

// Unsubscribe removes an object, which is never affected any more.
func (i *Inventory) Unsubscribe(key Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	unused := i.unindex(i.subscribers.byKey[key])
	delete(i.subscribers.byKey, key)
	i.release(unused)
}

// index adds a subscriber, whose views exist, to the indexes. It does nothing if the subscriber is already indexed.
func (i *Inventory) index(s *subscriber) {
	if s.indexed {
		return
	}
	s.indexed = true
	dynamic := 0

	for _, predicate := range s.dependencies.Predicates {
		used := i.views.acquire(predicate)
		used.dependents[s] = struct{}{}
		s.predicates = append(s.predicates, used)
		if used.celCache != nil {
			dynamic++
		}
	}

	for _, used := range s.predicates {
		if used.celCache != nil {
			used.celCache.limitFreeCost(dynamic)
		}
	}

	for _, clauses := range s.dependencies.Clauses {
		views := make([]*view, 0, len(clauses))
		for _, clause := range clauses {
			used := i.views.acquire(clause)
			if used.clauseDependents == nil {
				used.clauseDependents = map[*subscriber]struct{}{}
			}
			used.clauseDependents[s] = struct{}{}
			views = append(views, used)
		}
		s.clauses = append(s.clauses, views)
	}

	s.eachEntry(i.subscribers, func(in map[*subscriber]struct{}) { in[s] = struct{}{} })
	s.identity = RequestIdentity(s.dependencies.ClusterSets, s.dependencies.Predicates)
	i.requestCounts.add(s.identity)
}

// unindex removes a subscriber from the indexes, if it is in them, and returns its views, each of which the caller releases.
func (i *Inventory) unindex(s *subscriber) []*view {
	if s == nil || !s.indexed {
		return nil
	}
	for _, used := range s.predicates {
		delete(used.dependents, s) // Two predicates may be equal, and share the view.
	}
	clauses := slices.Concat(s.clauses...)
	for _, used := range clauses {
		delete(used.clauseDependents, s)
	}

	s.eachEntry(i.subscribers, func(in map[*subscriber]struct{}) { delete(in, s) })
	deleteEmpty(i.subscribers.inNamespace, s.key.Namespace)
	deleteEmpty(i.subscribers.unfiltered, s.key.Namespace)
	for _, read := range slices.Concat(s.dependencies.Reads, s.dependencies.ScopeReads) {
		deleteEmpty(i.subscribers.scopeReaders, read)
		deleteEmpty(i.subscribers.matchReaders, read)
	}
	i.requestCounts.remove(s.identity, i.results)
	return slices.Concat(s.predicates, clauses)
}
