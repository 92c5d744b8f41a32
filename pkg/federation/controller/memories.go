// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// memory is what the controller remembers of an object between two reconciles.
type memory struct {
	// version is the resourceVersion of which body and hashes are; empty if they are not known.
	version string
	body    federation.Body
	hashes  map[federation.Variant]string
	past    federation.Past
	// deleted has the UIDs of the works that the hub has deleted and that wait for their finalizers, by cluster, until the watch has shown
	// the end of each.
	deleted map[string]types.UID
	// changed is when the object was changed last, as it was read.
	changed time.Time
}

// memories has the memory of each object. Only the worker that reconciles an object reads or changes its memory.
type memories struct {
	mu sync.Mutex
	of map[inventory.Key]*memory
}

func newMemories() *memories { return &memories{of: map[inventory.Key]*memory{}} }

// get returns the memory of an object, which is empty at first.
func (m *memories) get(key inventory.Key) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of[key]
	if known == nil {
		known = &memory{}
		m.of[key] = known
	}
	return known
}

func (m *memories) known(key inventory.Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[key] != nil
}

func (m *memories) keys() []inventory.Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.of))
}

func (m *memories) forget(key inventory.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
}
