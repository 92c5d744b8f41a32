// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

var object = types.NamespacedName{Namespace: "n", Name: "o"}

func TestEnsureReady(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		record  func(*Store)
		version string
		after   time.Duration
		left    time.Duration // of the StaleError; 0 for none
		kept    bool
	}{
		{"nothing was written", func(*Store) {}, "1", 0, 0, false},
		{"the cache is behind the response", func(s *Store) { s.WroteAt(object, "10") }, "9", time.Second, Timeout - time.Second, true},
		{"the cache has the response", func(s *Store) { s.WroteAt(object, "10") }, "10", 0, 0, false},
		{"the cache has a later state", func(s *Store) { s.WroteAt(object, "10") }, "11", 0, 0, false},
		{"the versions cannot be compared", func(s *Store) { s.WroteAt(object, "10") }, "x", 0, 0, false},
		{"the event of the response never comes", func(s *Store) { s.WroteAt(object, "10") }, "9", Timeout, 0, false},
		{"the last write counts", func(s *Store) { s.WroteAt(object, "10"); s.WroteAt(object, "12") }, "11", 0, Timeout, true},
		{"the cache has the state before the write", func(s *Store) { s.Writing(object, "10") }, "10", time.Second, Timeout - time.Second, true},
		{"the cache has no object after the creation", func(s *Store) { s.CreatedAt(object, "10") }, "", time.Second, Timeout - time.Second, true},
		{"the cache has the object before a further write", func(s *Store) { s.CreatedAt(object, "10") }, "9", 0, Timeout, true},
		{"the cache has the object as it was created", func(s *Store) { s.CreatedAt(object, "10") }, "10", 0, 0, false},
		{"the cache has no object after a write", func(s *Store) { s.WroteAt(object, "10") }, "", 0, 0, false},
		{"the cache has no object before the creation", func(s *Store) { s.Writing(object, "") }, "", 0, Timeout, true},
		{"the cache has the new object", func(s *Store) { s.Writing(object, "") }, "10", 0, 0, false},
		{"the cache has another state", func(s *Store) { s.Writing(object, "10") }, "12", 0, 0, false},
		{"the cache does not have the object any more", func(s *Store) { s.Writing(object, "10") }, "", 0, 0, false},
		{"the event of a change never comes", func(s *Store) { s.Writing(object, "10") }, "10", Timeout, 0, false},
		{"the write is cleared", func(s *Store) { s.WroteAt(object, "10"); s.Clear(object) }, "9", 0, 0, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
			store := NewStore(clock)
			tc.record(store)
			clock.SetTime(clock.Now().Add(tc.after))
			err := store.EnsureReady(object, tc.version)
			stale, is := errors.AsType[*StaleError](err)
			switch {
			case is != (tc.left > 0) || err != nil && !is:
				t.Errorf("got %v", err)
			case is && (stale.Left != tc.left || stale.Object != object || stale.Version != tc.version):
				t.Errorf("got %+v, want %s", stale, tc.left)
			}

			if kept := len(store.writes) > 0; kept != tc.kept {
				t.Errorf("the write is kept: %t", kept)
			}
		})
	}
}

// Pending keeps a write that counts as shown, so that the caller can decide about it.
func TestPending(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	store := NewStore(clock)
	store.Writing(object, "1")
	clock.SetTime(clock.Now().Add(Timeout + time.Second))
	for range 2 {
		if left, pending := store.Pending(object, "1"); !pending || left != -time.Second {
			t.Errorf("got %s, %t", left, pending)
		}
	}

	if _, pending := store.Pending(object, "2"); pending || len(store.writes) > 0 {
		t.Errorf("a shown write is pending: %t, kept: %v", pending, store.writes)
	}
}

func TestLater(t *testing.T) {
	at := func(version string) *metav1.ObjectMeta { return &metav1.ObjectMeta{ResourceVersion: version} }
	for _, tc := range []struct {
		a, b          string
		later, later2 bool // where versions that cannot be compared do not count as later, and where they do
	}{
		{"10", "9", true, true}, {"9", "10", false, false}, {"9", "9", false, false}, {"x", "9", false, true}, {"9", "", false, true},
	} {
		if got, got2 := Later(at(tc.a), at(tc.b), false), Later(at(tc.a), at(tc.b), true); got != tc.later || got2 != tc.later2 {
			t.Errorf("%q after %q: got %t and %t", tc.a, tc.b, got, got2)
		}
	}
}
