// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Timeout is after which time a write counts as shown.
const Timeout = 30 * time.Second

// Store has the last own write of each object until the cache shows it. It is safe for concurrent use.
type Store struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	writes map[types.NamespacedName]write
}

// write is a write that the cache need not show yet.
type write struct {
	// wrote is the version in the response, which the cache shows once it has this version or a later one. If there is no response to record,
	// it is empty, and the cache shows the write once it has another version than base; empty for no object.
	wrote, base string
	// created reports that the object did not exist before, so that a cache without it does not show the write.
	created bool
	at      time.Time
}

// shownBy reports whether the cache shows the write by a version of the object. A version that cannot be compared shows it.
func (w write) shownBy(version string) bool {
	if w.wrote == "" {
		return version != w.base
	}
	if version == "" {
		return !w.created
	}
	order, ordered := Compare(version, w.wrote)
	return !ordered || order >= 0
}

// NewStore returns an empty Store.
func NewStore(c clock.PassiveClock) *Store {
	return &Store{clock: c, writes: map[types.NamespacedName]write{}}
}

// WroteAt records the version in the response to a write of an object.
func (s *Store) WroteAt(object types.NamespacedName, version string) {
	s.record(object, write{wrote: version})
}

// CreatedAt records the version in the response to the creation of an object, or to the last of the writes that it begins.
func (s *Store) CreatedAt(object types.NamespacedName, version string) {
	s.record(object, write{wrote: version, created: true})
}

// Writing records that a write is sent that is based on a version of an object; empty for a creation. It must be called before the write is sent,
// so that its event cannot come first.
func (s *Store) Writing(object types.NamespacedName, base string) {
	s.record(object, write{base: base})
}

func (s *Store) record(object types.NamespacedName, sent write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent.at = s.clock.Now()
	s.writes[object] = sent
}

// Clear drops the write of an object.
func (s *Store) Clear(object types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writes, object)
}

// Pending reports whether the cache, which has an object in a version, does not show the last write of it, and how long the write does not count
// as shown yet; not positive if it counts. It drops a write that is shown.
func (s *Store) Pending(object types.NamespacedName, version string) (left time.Duration, pending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.writes[object]
	if !known {
		return 0, false
	}
	if last.shownBy(version) {
		delete(s.writes, object)
		return 0, false
	}
	return Timeout - s.clock.Since(last.at), true
}

// EnsureReady returns a StaleError if the cache, which has an object in a version, does not show the last write of it and the write does not count
// as shown yet. Otherwise it drops the write.
func (s *Store) EnsureReady(object types.NamespacedName, version string) error {
	left, pending := s.Pending(object, version)
	switch {
	case !pending:
		return nil
	case left > 0:
		return &StaleError{Object: object, Version: version, Left: left}
	default:
		s.Clear(object)
		return nil
	}
}

// StaleError says that the cache does not show the last own write of an object.
type StaleError struct {
	Object types.NamespacedName
	// Version is that of the object in the cache.
	Version string
	// Left is after which time the write counts as shown.
	Left time.Duration
}

// Error returns a message that names the object.
func (e *StaleError) Error() string {
	return fmt.Sprintf("the cache has version %q of %s, and does not show the last write of it yet", e.Version, e.Object)
}
