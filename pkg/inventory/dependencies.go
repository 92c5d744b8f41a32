package inventory

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Dependencies are the inputs that the evaluation of a subscriber reads. They must not be changed once passed to an Inventory.
type Dependencies struct {
	// ClusterSets are its spec.clusterSets; empty means every set bound to its namespace.
	ClusterSets []string
	// Predicates are ORed; without any, every cluster in scope matches.
	Predicates []*selector.Selector
	// Reads are the properties that are read of a cluster that matches the predicates.
	Reads []clusterinfo.Property
	// ScopeReads are the properties that are read of every cluster in scope.
	ScopeReads []clusterinfo.Property
	// WatchRejected reports whether the result depends on the reason for which each cluster in scope was rejected. Clauses has, for each
	// predicate whose clauses the reasons distinguish, these clauses in their order: the first clause that a cluster does not match is a
	// part of the result.
	WatchRejected bool
	Clauses       [][]*selector.Selector
}

func (i Dependencies) includes(set string) bool {
	return len(i.ClusterSets) == 0 || slices.Contains(i.ClusterSets, set)
}

// subscriber is an object that has declared its dependencies. It is indexed, and can be affected, only after the first SnapshotFor.
type subscriber struct {
	key          Key
	dependencies Dependencies
	indexed      bool
	identity     string // of its request, once it is indexed
	predicates   []*view
	clauses      [][]*view
}

// subscribers has all subscribers by key, and indexes of them by namespace and by the properties that they read.
type subscribers struct {
	byKey       map[Key]*subscriber
	inNamespace map[string]map[*subscriber]struct{}
	// unfiltered has, by namespace, the subscribers that may read clusters which match no predicate.
	unfiltered map[string]map[*subscriber]struct{}
	// scopeReaders read a property of every cluster in their scope, and matchReaders only of clusters that match their predicates.
	scopeReaders, matchReaders map[clusterinfo.Property]map[*subscriber]struct{}
}

// readsUnfiltered reports whether a cluster may count that matches no predicate.
func (s *subscriber) readsUnfiltered() bool {
	return len(s.dependencies.Predicates) == 0 || s.readsRejected()
}

// readsRejected reports whether the result depends on clusters that match no predicate.
func (s *subscriber) readsRejected() bool {
	return len(s.dependencies.ScopeReads) > 0 || s.dependencies.WatchRejected
}

func newSubscribers() *subscribers {
	return &subscribers{
		byKey: map[Key]*subscriber{}, inNamespace: map[string]map[*subscriber]struct{}{},
		unfiltered:   map[string]map[*subscriber]struct{}{},
		scopeReaders: map[clusterinfo.Property]map[*subscriber]struct{}{}, matchReaders: map[clusterinfo.Property]map[*subscriber]struct{}{},
	}
}

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

// selectors returns the selectors that have a view for the subscriber.
func (i Dependencies) selectors() []*selector.Selector {
	return slices.Concat(i.Predicates, slices.Concat(i.Clauses...))
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

func (s *subscriber) eachEntry(all *subscribers, visit func(map[*subscriber]struct{})) {
	visit(setAt(all.inNamespace, s.key.Namespace))

	if s.readsUnfiltered() {
		visit(setAt(all.unfiltered, s.key.Namespace))
	}

	readers := all.scopeReaders
	if len(s.dependencies.Predicates) > 0 {
		readers = all.matchReaders
	}

	for _, read := range s.dependencies.Reads {
		visit(setAt(readers, read))
	}

	for _, read := range s.dependencies.ScopeReads {
		visit(setAt(all.scopeReaders, read))
	}
}

// mayMatch reports whether a cluster may have matched the predicates before the change, or may match them now.
func (s *subscriber) mayMatch(id uint, flipped map[*view]struct{}) bool {
	return len(s.predicates) == 0 || slices.ContainsFunc(s.predicates, func(v *view) bool {
		_, is := flipped[v]

		return is || v.matchesOrUnknown(id)
	})
}

// predicateFlipped reports whether a predicate flipped before which none matches. Only predicates without CEL are known to match.
func (s *subscriber) predicateFlipped(id uint, flipped map[*view]struct{}) bool {
	for _, v := range s.predicates {
		if _, is := flipped[v]; is {
			return true
		}

		if v.celCache == nil && v.matches.bits.Test(id) {
			return false
		}
	}

	return false
}

// failedClauseChanged reports whether the first clause that a cluster fails has changed, in any predicate.
func (s *subscriber) failedClauseChanged(id uint, flipped map[*view]struct{}) bool {
	return slices.ContainsFunc(s.clauses, func(clauses []*view) bool {
		for _, v := range clauses {
			if _, is := flipped[v]; is {
				return true
			}

			if !v.matches.bits.Test(id) {
				return false // It is the first clause that failed before and fails now.
			}
		}

		return false
	})
}

// hasCEL reports whether a predicate has CEL. Its errors and costs are a part of the result, also those of clusters that do not match.
func (s *subscriber) hasCEL() bool {
	return slices.ContainsFunc(s.predicates, func(v *view) bool { return v.celCache != nil })
}

func (v *view) matchesOrUnknown(id uint) bool {
	return v.matches.bits.Test(id) && (v.celCache == nil || v.celCache.matchedOrUnknown(id))
}
