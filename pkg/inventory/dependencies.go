package inventory

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Dependencies are the inputs that the evaluation of a placement reads. They must not be changed once passed to an Inventory.
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

// placement has the dependencies of one placement. It is indexed, and can be affected, only once it is subscribed.
type placement struct {
	key          PlacementKey
	dependencies Dependencies
	subscribed   bool
	identity     string // of its request, once it is subscribed
	predicates   []*view
	clauses      [][]*view
}

// placements has all placements, and indexes of the subscribed ones by namespace and by the properties that they read.
type placements struct {
	byKey       map[PlacementKey]*placement
	inNamespace map[string]map[*placement]struct{}
	// unfiltered has, by namespace, the placements that may read clusters which match no predicate.
	unfiltered map[string]map[*placement]struct{}
	// scopeReaders read a property of every cluster in their scope, and matchReaders only of clusters that match their predicates.
	scopeReaders, matchReaders map[clusterinfo.Property]map[*placement]struct{}
}

// readsUnfiltered reports whether a cluster may count that matches no predicate.
func (p *placement) readsUnfiltered() bool {
	return len(p.dependencies.Predicates) == 0 || p.readsRejected()
}

// readsRejected reports whether the result depends on clusters that match no predicate.
func (p *placement) readsRejected() bool {
	return len(p.dependencies.ScopeReads) > 0 || p.dependencies.WatchRejected
}

func newPlacements() *placements {
	return &placements{
		byKey: map[PlacementKey]*placement{}, inNamespace: map[string]map[*placement]struct{}{},
		unfiltered:   map[string]map[*placement]struct{}{},
		scopeReaders: map[clusterinfo.Property]map[*placement]struct{}{}, matchReaders: map[clusterinfo.Property]map[*placement]struct{}{},
	}
}

// Subscribe declares the dependencies of a placement, and replaces the former ones. Affected returns the placement only after the next
// SnapshotFor, with which it has to be evaluated.
func (i *Inventory) Subscribe(key PlacementKey, dependencies Dependencies) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.unsubscribe(i.placements.byKey[key])
	i.placements.byKey[key] = &placement{key: key, dependencies: dependencies}
}

// UpdateDependencies replaces the dependencies of a subscribed placement, and returns the generation after which they apply: for changes up
// to that generation, Affected has used the old ones. It keeps the cached verdicts of predicates in both, and ignores a placement that
// never subscribed.
func (i *Inventory) UpdateDependencies(key PlacementKey, dependencies Dependencies) (generation uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()

	before := i.placements.byKey[key]
	if before == nil {
		return i.generation
	}

	after := &placement{key: key, dependencies: dependencies}
	i.placements.byKey[key] = after

	if before.subscribed {
		i.subscribe(after)
	}

	i.unsubscribe(before) // After subscribe, so that views of both keep a reference.

	return i.generation
}

// Unsubscribe removes the dependencies of a placement, which is never affected any more.
func (i *Inventory) Unsubscribe(key PlacementKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.unsubscribe(i.placements.byKey[key])
	delete(i.placements.byKey, key)
}

// subscribe adds a placement to the indexes. It does nothing if the placement is nil or already subscribed.
func (i *Inventory) subscribe(p *placement) {
	if p == nil || p.subscribed {
		return
	}

	p.subscribed = true
	dynamic := 0

	for _, predicate := range p.dependencies.Predicates {
		used := i.views.acquire(predicate)
		used.dependents[p] = struct{}{}
		p.predicates = append(p.predicates, used)

		if used.celCache != nil {
			dynamic++
		}
	}

	for _, used := range p.predicates {
		if used.celCache != nil {
			used.celCache.limitFreeCost(dynamic)
		}
	}

	for _, clauses := range p.dependencies.Clauses {
		views := make([]*view, 0, len(clauses))

		for _, clause := range clauses {
			used := i.views.acquire(clause)
			if used.clauseDependents == nil {
				used.clauseDependents = map[*placement]struct{}{}
			}

			used.clauseDependents[p] = struct{}{}
			views = append(views, used)
		}

		p.clauses = append(p.clauses, views)
	}

	p.eachEntry(i.placements, func(in map[*placement]struct{}) { in[p] = struct{}{} })

	p.identity = RequestIdentity(p.dependencies.ClusterSets, p.dependencies.Predicates)
	i.subscribers.add(p.identity)
}

// unsubscribe removes a placement from the indexes.
func (i *Inventory) unsubscribe(p *placement) {
	if p == nil || !p.subscribed {
		return
	}

	for _, used := range p.predicates {
		delete(used.dependents, p) // Two predicates may be equal, and share the view.
		i.views.release(used)
	}

	for _, used := range slices.Concat(p.clauses...) {
		delete(used.clauseDependents, p)
		i.views.release(used)
	}

	p.eachEntry(i.placements, func(in map[*placement]struct{}) { delete(in, p) })
	deleteEmpty(i.placements.inNamespace, p.key.Namespace)
	deleteEmpty(i.placements.unfiltered, p.key.Namespace)

	for _, read := range slices.Concat(p.dependencies.Reads, p.dependencies.ScopeReads) {
		deleteEmpty(i.placements.scopeReaders, read)
		deleteEmpty(i.placements.matchReaders, read)
	}

	i.subscribers.remove(p.identity, i.results)
}

func (p *placement) eachEntry(all *placements, visit func(map[*placement]struct{})) {
	visit(setAt(all.inNamespace, p.key.Namespace))

	if p.readsUnfiltered() {
		visit(setAt(all.unfiltered, p.key.Namespace))
	}

	readers := all.scopeReaders
	if len(p.dependencies.Predicates) > 0 {
		readers = all.matchReaders
	}

	for _, read := range p.dependencies.Reads {
		visit(setAt(readers, read))
	}

	for _, read := range p.dependencies.ScopeReads {
		visit(setAt(all.scopeReaders, read))
	}
}

// mayMatch reports whether a cluster may have matched the predicates before the change, or may match them now.
func (p *placement) mayMatch(id uint, flipped map[*view]struct{}) bool {
	return len(p.predicates) == 0 || slices.ContainsFunc(p.predicates, func(v *view) bool {
		_, is := flipped[v]

		return is || v.matchesOrUnknown(id)
	})
}

// predicateFlipped reports whether a predicate flipped before which none matches. Only predicates without CEL are known to match.
func (p *placement) predicateFlipped(id uint, flipped map[*view]struct{}) bool {
	for _, v := range p.predicates {
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
func (p *placement) failedClauseChanged(id uint, flipped map[*view]struct{}) bool {
	return slices.ContainsFunc(p.clauses, func(clauses []*view) bool {
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
func (p *placement) hasCEL() bool {
	return slices.ContainsFunc(p.predicates, func(v *view) bool { return v.celCache != nil })
}

func (v *view) matchesOrUnknown(id uint) bool {
	return v.matches.bits.Test(id) && (v.celCache == nil || v.celCache.matchedOrUnknown(id))
}
