package inventory

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Dependencies is what a placement looks at.
type Dependencies struct {
	// ClusterSets are its spec.clusterSets; empty means every set bound to its namespace.
	ClusterSets []string
	// Predicates are ORed; none means that every cluster in scope passes.
	Predicates []*selector.Selector
	// Reads are the facts that can change its answer of a cluster that passes the predicates.
	Reads []clusterinfo.Property
	// ScopeReads are the facts that can change its answer of any cluster in scope.
	ScopeReads []clusterinfo.Property
	// WatchRejected says that the answer tells of every cluster in scope what keeps it out. Clauses are, for each of the predicates whose clauses it
	// tells apart, those clauses in their order: which of them is the first that a cluster does not match is a part of the answer.
	WatchRejected bool
	Clauses       [][]*selector.Selector
}

func (i Dependencies) includes(set string) bool {
	return len(i.ClusterSets) == 0 || slices.Contains(i.ClusterSets, set)
}

// placement is what the inventory knows of one placement. Nobody is woken for it before a snapshot was taken for it: it has no answer yet
// that could change.
type placement struct {
	key          PlacementKey
	dependencies Dependencies
	subscribed   bool
	identity     string // of its request, once it is enrolled
	predicates   []*view
	clauses      [][]*view
}

// placements are all placements, and those that are enrolled by namespace and by what they read.
type placements struct {
	byKey       map[PlacementKey]*placement
	inNamespace map[string]map[*placement]struct{}
	// unfiltered are those that may look at a cluster whatever it is.
	unfiltered map[string]map[*placement]struct{}
	// scopeReaders read a key of any cluster in their scope, and selective only of those that pass their predicates.
	scopeReaders, matchReaders map[clusterinfo.Property]map[*placement]struct{}
}

// readsUnfiltered reports whether a cluster that matches none of the predicates may count.
func (p *placement) readsUnfiltered() bool {
	return len(p.dependencies.Predicates) == 0 || p.readsRejected()
}

// readsRejected reports whether clusters that match none of the predicates have a part in the answer.
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

// Subscribe takes in what a placement looks at. It has to be evaluated anew.
func (i *Inventory) Subscribe(key PlacementKey, dependencies Dependencies) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.unsubscribe(i.placements.byKey[key])
	i.placements.byKey[key] = &placement{key: key, dependencies: dependencies}
}

// UpdateDependencies replaces the dependencies of a subscribed placement, and returns the generation from which on they hold: Affected has
// judged changes up to that generation by the old ones. What is known of its predicates is kept. A placement that never subscribed is ignored.
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

	i.unsubscribe(before) // After enrol, so that the views of both are not made again.

	return i.generation
}

// Unsubscribe forgets what a placement looked at.
func (i *Inventory) Unsubscribe(key PlacementKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.unsubscribe(i.placements.byKey[key])
	delete(i.placements.byKey, key)
}

// subscribe makes a placement known to whom it concerns.
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

// unsubscribe undoes enrol.
func (i *Inventory) unsubscribe(p *placement) {
	if p == nil || !p.subscribed {
		return
	}

	for _, used := range p.predicates {
		delete(used.dependents, p) // Two predicates may be equal; then the second time it is gone already.
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

// mayMatch reports whether a cluster passed the predicates before a change or passes them now, as far as is known.
func (p *placement) mayMatch(id uint, flipped map[*view]struct{}) bool {
	return len(p.predicates) == 0 || slices.ContainsFunc(p.predicates, func(v *view) bool {
		_, is := flipped[v]

		return is || v.matchesOrUnknown(id)
	})
}

// predicateFlipped reports whether the first predicate that decides about a cluster is one of those that flipped.
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

// failedClauseChanged reports whether the clause that a cluster fails of any predicate is another one than before.
func (p *placement) failedClauseChanged(id uint, flipped map[*view]struct{}) bool {
	return slices.ContainsFunc(p.clauses, func(clauses []*view) bool {
		for _, v := range clauses {
			if _, is := flipped[v]; is {
				return true
			}

			if !v.matches.bits.Test(id) {
				return false // It is the first that failed and fails.
			}
		}

		return false
	})
}

// hasCEL reports whether errors and costs of CEL are a part of the answer, which come of clusters that do not pass as well.
func (p *placement) hasCEL() bool {
	return slices.ContainsFunc(p.predicates, func(v *view) bool { return v.celCache != nil })
}

func (v *view) matchesOrUnknown(id uint) bool {
	return v.matches.bits.Test(id) && (v.celCache == nil || v.celCache.matchedOrUnknown(id))
}
