// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Ring keeps the latest Moves in a bounded number of bytes, with a fair share for each namespace. It is safe for concurrent use.
type Ring struct {
	mu    sync.RWMutex
	moves *Shares[*Move]
}

// NewRing returns an empty Ring of at most limit bytes.
func NewRing(limit int) *Ring { return &Ring{moves: NewShares[*Move](limit)} }

// Add adds a Move, which must not change any more. It returns false for one that is larger than the Ring, which is not kept.
func (r *Ring) Add(move *Move) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moves.Add(move.Namespace, move.Size(), move)
}

// Replace replaces the Moves by those that a function makes of them, oldest first. Those that have no room go.
func (r *Ring) Replace(by func(moves []*Move) []*Move) {
	r.mu.Lock()
	defer r.mu.Unlock()
	replaced := by(r.all())
	r.moves = NewShares[*Move](r.moves.limit)
	for _, move := range replaced {
		r.moves.Add(move.Namespace, move.Size(), move)
	}
}

// all returns all Moves, oldest first; mu must be held.
func (r *Ring) all() []*Move {
	found := map[uint64]*Move{}
	for namespace := range r.moves.tenants {
		maps.Insert(found, r.moves.numbered(namespace))
	}
	moves := make([]*Move, 0, len(found))
	for _, number := range slices.Sorted(maps.Keys(found)) {
		moves = append(moves, found[number])
	}
	return moves
}

// Bytes returns how many bytes the Moves take.
func (r *Ring) Bytes() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.moves.Bytes()
}

// Query selects Moves.
type Query struct {
	// Namespace is that of the objects; empty for all.
	Namespace string
	// Has reports whether an object is meant; nil for all.
	Has func(Object) bool
	// Clusters are those of which one was gained or lost; none for any.
	Clusters []string
	// Since is the time before which Moves are left out; zero for no time.
	Since time.Time
	// Limit is the number of the latest Moves to return; 0 for all.
	Limit int
}

// Find returns the Moves that a Query selects, oldest first, and whether the limit has left some out.
func (r *Ring) Find(query Query) (moves []*Move, more bool) {
	type numbered struct {
		number uint64
		move   *Move
	}
	var found []numbered
	r.mu.RLock()
	defer r.mu.RUnlock()
	collect := func(namespace string) {
		count := 0
		for number, move := range r.moves.numbered(namespace) {
			if query.Limit > 0 && count > query.Limit {
				break // There are enough newer ones of this namespace alone.
			}
			if query.selects(move) {
				found = append(found, numbered{number, move})
				count++
			}
		}
	}
	if query.Namespace != "" {
		collect(query.Namespace)
	} else {
		for namespace := range r.moves.tenants {
			collect(namespace)
		}
	}
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	if more = query.Limit > 0 && len(found) > query.Limit; more {
		found = found[len(found)-query.Limit:]
	}
	for _, each := range found {
		moves = append(moves, each.move)
	}
	return moves, more
}

// Last returns when the latest Move of an object was; zero if the Ring has none.
func (r *Ring) Last(namespace, uid string) time.Time {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for move := range r.moves.Of(namespace) {
		if move.UID == uid {
			return move.Time
		}
	}
	return time.Time{}
}

func (q *Query) selects(move *Move) bool {
	switch {
	case move.Time.Before(q.Since):
		return false
	case q.Has != nil && !q.Has(move.Object()):
		return false
	default:
		return len(q.Clusters) == 0 || move.Names(q.Clusters)
	}
}
