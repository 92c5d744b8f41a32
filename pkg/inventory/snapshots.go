// SPDX-License-Identifier: Apache-2.0

package inventory

import "sync"

// Snapshot returns the current state. It has no effect: calls without a change between them return the same Snapshot.
func (i *Inventory) Snapshot() *Snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.current()
}

// SnapshotFor returns a Snapshot for the evaluation of subscribers: it contains the matches of their predicates, if their dependencies are
// known, and from now on Affected returns them. Keys that never subscribed are ignored. Events do not wait while predicates are evaluated.
func (i *Inventory) SnapshotFor(keys ...Key) *Snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, key := range keys {
		i.indexCurrent(key)
	}
	return i.current()
}

// current returns the Snapshot of the current state, and makes it if something has changed since the last one. The caller holds the mutex.
func (i *Inventory) current() *Snapshot {
	i.views.freeze()
	if i.snapshot == nil || i.snapshot.views != i.views.table.frozen {
		i.snapshot = i.freeze(i.snapshot)
	}
	return i.snapshot
}

// Generation returns the Generation of the current state.
func (i *Inventory) Generation() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.generation
}

// DecisionsGeneration returns the DecisionsGeneration of the current state.
func (i *Inventory) DecisionsGeneration() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.decisions.generation
}

// freeze makes a Snapshot. If last is not nil, nothing but the views has changed since it was made.
func (i *Inventory) freeze(last *Snapshot) *Snapshot {
	s := &Snapshot{
		Generation: i.generation, DecisionsGeneration: i.decisions.generation,
		clusters: i.clusters.freeze(), infos: i.infos.freeze(), names: i.ids.names.freeze(),
		alive: i.alive.freeze(), tainted: i.tainted.freeze(), unreadable: i.unreadable.freeze(),
		sets: i.sets.freeze(), bindings: i.bindings.freeze(), views: i.views.table.frozen,
		pages:  i.decisions.counted.freeze(),
		totals: i.decisions.totals.freeze(), frequencies: i.decisions.frequencies.freeze(), highest: i.decisions.highest,
		results: i.results,
	}
	if i.orderOf != s.clusters {
		i.orderOf, i.order = s.clusters, orderOf(s.clusters)
	}

	s.order = i.order
	s.sorted = sync.OnceValue(s.sort)
	if last != nil {
		s.sorted = last.sorted
	}
	return s
}
