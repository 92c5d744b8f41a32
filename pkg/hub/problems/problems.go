// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// settling bounds how long partial looks at an object count as the first one.
const settling = time.Minute

// Memory has the problems of the objects of a controller. It is safe for concurrent use; looks at one object do not overlap.
type Memory[K comparable] struct {
	clock  clock.PassiveClock
	former func() time.Time

	mu sync.Mutex
	of map[K]*record
}

// record is what is known of an object.
type record struct {
	// notes are by reason; nil for none.
	notes map[string]string
	// since is the time of the first look, and settled reports that it has ended.
	since   time.Time
	settled bool
}

// New returns an empty Memory. former returns when the former leader has renewed the lease last, and zero if there was none; nil
// if nothing is known of one.
func New[K comparable](c clock.PassiveClock, former func() time.Time) *Memory[K] {
	return &Memory[K]{clock: c, former: former, of: map[K]*record{}}
}

// Look is what one evaluation of an object has found.
type Look struct {
	// Notes are the problems, by the reasons of their Events.
	Notes map[string]string
	// Partial reports that the evaluation has failed or waits for others, so that it may not show all problems.
	Partial bool
	// Changed returns when the object, or what decides about it, was changed last. It is called at the first look alone.
	Changed func() (time.Time, error)
}

// New records a look, and returns the reasons of the notes of which an Event is to be sent. With an error of Look.Changed it records nothing.
func (m *Memory[K]) New(key K, look Look) ([]string, error) {
	now := m.clock.Now()
	known := m.known(key, now)
	fresh := known.fresh(look.Notes)
	if len(fresh) > 0 && !known.settled {
		reported, err := m.told(look)
		if err != nil {
			return nil, fmt.Errorf("finding out whether problems are new: %w", err)
		}
		if reported {
			fresh = nil
		}
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	known.keep(look)
	known.settled = known.settled || !look.Partial || now.Sub(known.since) >= settling
	return fresh, nil
}

// known returns the record of an object.
func (m *Memory[K]) known(key K, now time.Time) *record {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of[key]
	if known == nil {
		known = &record{since: now}
		m.of[key] = known
	}
	return known
}

// told reports whether the former leader has sent the Events of what a first look shows.
func (m *Memory[K]) told(look Look) (bool, error) {
	if m.former == nil {
		return false, nil
	}
	former := m.former()
	if former.IsZero() {
		return false, nil
	}
	changed, err := look.Changed()

	// The times of metadata have whole seconds.
	return changed.Before(former.Truncate(time.Second)), err
}

// Forget drops what is known of an object.
func (m *Memory[K]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
}

// fresh returns the reasons of notes that are not the last ones, sorted.
func (r *record) fresh(notes map[string]string) []string {
	var fresh []string
	for _, reason := range slices.Sorted(maps.Keys(notes)) {
		if note, found := r.notes[reason]; !found || note != notes[reason] {
			fresh = append(fresh, reason)
		}
	}
	return fresh
}

// keep replaces the notes. Those that a partial look does not show stay.
func (r *record) keep(look Look) {
	kept := maps.Clone(look.Notes)
	if look.Partial && len(r.notes) > 0 {
		kept = maps.Clone(r.notes)
		maps.Copy(kept, look.Notes)
	}
	if len(kept) == 0 {
		kept = nil
	}
	r.notes = kept
}

// LastChange returns when the metadata, spec or data of an object were changed last, with the seconds that its managedFields have. The status does
// not count.
func LastChange(object metav1.Object) time.Time {
	last := object.GetCreationTimestamp().Time
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		last = Later(last, deleted.Time)
	}
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil {
			last = Later(last, entry.Time.Time)
		}
	}
	return last
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
