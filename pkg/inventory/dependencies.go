// SPDX-License-Identifier: Apache-2.0

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

func (d Dependencies) includes(set string) bool {
	return len(d.ClusterSets) == 0 || slices.Contains(d.ClusterSets, set)
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

// selectors returns the selectors that have a view for the subscriber.
func (d Dependencies) selectors() []*selector.Selector {
	return slices.Concat(d.Predicates, slices.Concat(d.Clauses...))
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
