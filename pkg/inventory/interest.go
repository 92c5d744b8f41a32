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
	key        PlacementKey
	interest   Dependencies
	enrolled   bool
	identity   string // of its request, once it is enrolled
	predicates []*view
	clauses    [][]*view
}

// placements are all placements, and those that are enrolled by namespace and by what they read.
type placements struct {
	known       map[PlacementKey]*placement
	inNamespace map[string]map[*placement]struct{}
	// open are those that may look at a cluster whatever it is.
	open map[string]map[*placement]struct{}
	// readers read a key of any cluster in their scope, and selective only of those that pass their predicates.
	readers, selective map[clusterinfo.Property]map[*placement]struct{}
}

// open reports whether a cluster that matches none of the predicates may count.
func (p *placement) open() bool {
	return len(p.interest.Predicates) == 0 || p.looksAtAll()
}

// looksAtAll reports whether clusters that match none of the predicates have a part in the answer.
func (p *placement) looksAtAll() bool {
	return len(p.interest.ScopeReads) > 0 || p.interest.WatchRejected
}

func newPlacements() *placements {
	return &placements{
		known: map[PlacementKey]*placement{}, inNamespace: map[string]map[*placement]struct{}{},
		open:    map[string]map[*placement]struct{}{},
		readers: map[clusterinfo.Property]map[*placement]struct{}{}, selective: map[clusterinfo.Property]map[*placement]struct{}{},
	}
}

// Subscribe takes in what a placement looks at. It has to be evaluated anew.
func (i *Inventory) Subscribe(key PlacementKey, interest Dependencies) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.dismiss(i.placements.known[key])
	i.placements.known[key] = &placement{key: key, interest: interest}
}

// UpdateDependencies replaces the dependencies of a subscribed placement, and returns the generation from which on they hold: Affected has
// judged changes up to that generation by the old ones. What is known of its predicates is kept. A placement that never subscribed is ignored.
func (i *Inventory) UpdateDependencies(key PlacementKey, interest Dependencies) (generation uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()

	before := i.placements.known[key]
	if before == nil {
		return i.generation
	}

	after := &placement{key: key, interest: interest}
	i.placements.known[key] = after

	if before.enrolled {
		i.enrol(after)
	}

	i.dismiss(before) // After enrol, so that the views of both are not made again.

	return i.generation
}

// Unsubscribe forgets what a placement looked at.
func (i *Inventory) Unsubscribe(key PlacementKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.dismiss(i.placements.known[key])
	delete(i.placements.known, key)
}

// enrol makes a placement known to whom it concerns.
func (i *Inventory) enrol(p *placement) {
	if p == nil || p.enrolled {
		return
	}

	p.enrolled = true
	dynamic := 0

	for _, predicate := range p.interest.Predicates {
		used := i.views.use(predicate)
		used.readers[p] = struct{}{}
		p.predicates = append(p.predicates, used)

		if used.memo != nil {
			dynamic++
		}
	}

	for _, used := range p.predicates {
		if used.memo != nil {
			used.memo.together(dynamic)
		}
	}

	for _, clauses := range p.interest.Clauses {
		views := make([]*view, 0, len(clauses))

		for _, clause := range clauses {
			used := i.views.use(clause)
			if used.tellers == nil {
				used.tellers = map[*placement]struct{}{}
			}

			used.tellers[p] = struct{}{}
			views = append(views, used)
		}

		p.clauses = append(p.clauses, views)
	}

	p.eachPlace(i.placements, func(in map[*placement]struct{}) { in[p] = struct{}{} })

	p.identity = RequestIdentity(p.interest.ClusterSets, p.interest.Predicates)
	i.subscribers.add(p.identity)
}

// dismiss undoes enrol.
func (i *Inventory) dismiss(p *placement) {
	if p == nil || !p.enrolled {
		return
	}

	for _, used := range p.predicates {
		delete(used.readers, p) // Two predicates may be equal; then the second time it is gone already.
		i.views.drop(used)
	}

	for _, used := range slices.Concat(p.clauses...) {
		delete(used.tellers, p)
		i.views.drop(used)
	}

	p.eachPlace(i.placements, func(in map[*placement]struct{}) { delete(in, p) })
	forgetEmpty(i.placements.inNamespace, p.key.Namespace)
	forgetEmpty(i.placements.open, p.key.Namespace)

	for _, read := range slices.Concat(p.interest.Reads, p.interest.ScopeReads) {
		forgetEmpty(i.placements.readers, read)
		forgetEmpty(i.placements.selective, read)
	}

	i.subscribers.remove(p.identity, i.answers)
}

func (p *placement) eachPlace(all *placements, visit func(map[*placement]struct{})) {
	visit(place(all.inNamespace, p.key.Namespace))

	if p.open() {
		visit(place(all.open, p.key.Namespace))
	}

	readers := all.readers
	if len(p.interest.Predicates) > 0 {
		readers = all.selective
	}

	for _, read := range p.interest.Reads {
		visit(place(readers, read))
	}

	for _, read := range p.interest.ScopeReads {
		visit(place(all.readers, read))
	}
}

// passes reports whether a cluster passed the predicates before a change or passes them now, as far as is known.
func (p *placement) passes(slot uint, flipped map[*view]struct{}) bool {
	return len(p.predicates) == 0 || slices.ContainsFunc(p.predicates, func(v *view) bool {
		_, is := flipped[v]

		return is || v.matchesOrUnknown(slot)
	})
}

// reaches reports whether the first predicate that decides about a cluster is one of those that flipped.
func (p *placement) reaches(slot uint, flipped map[*view]struct{}) bool {
	for _, v := range p.predicates {
		if _, is := flipped[v]; is {
			return true
		}

		if v.memo == nil && v.matches.bits.Test(slot) {
			return false
		}
	}

	return false
}

// tellsOtherwise reports whether the clause that a cluster fails of any predicate is another one than before.
func (p *placement) tellsOtherwise(slot uint, flipped map[*view]struct{}) bool {
	return slices.ContainsFunc(p.clauses, func(clauses []*view) bool {
		for _, v := range clauses {
			if _, is := flipped[v]; is {
				return true
			}

			if !v.matches.bits.Test(slot) {
				return false // It is the first that failed and fails.
			}
		}

		return false
	})
}

// dynamic reports whether errors and costs of CEL are a part of the answer, which come of clusters that do not pass as well.
func (p *placement) dynamic() bool {
	return slices.ContainsFunc(p.predicates, func(v *view) bool { return v.memo != nil })
}

func (v *view) matchesOrUnknown(slot uint) bool {
	return v.matches.bits.Test(slot) && (v.memo == nil || v.memo.matchedOrUnknown(slot))
}
