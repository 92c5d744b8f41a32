// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// times are when something began for ClusterProfiles. It is safe for concurrent use.
type times struct {
	mu sync.Mutex
	of map[types.NamespacedName]time.Time
}

func newTimes() *times { return &times{of: map[types.NamespacedName]time.Time{}} }

// since returns when it began for a ClusterProfile, which is now if that is not known.
func (t *times) since(key types.NamespacedName, now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	began, known := t.of[key]
	if !known {
		began = now
		t.of[key] = now
	}
	return began
}

// known returns when it began for a ClusterProfile; false if it has not.
func (t *times) known(key types.NamespacedName) (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began, known := t.of[key]
	return began, known
}

// set begins it for a ClusterProfile, also again.
func (t *times) set(key types.NamespacedName, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of[key] = now
}

func (t *times) forget(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, key)
}
