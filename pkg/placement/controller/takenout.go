// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// takenOut has the clusters of the pages of the hub from which others have taken clusters within removalbudget.Window, which are not recorded in a
// status (docs/spec/differences.md B18). It is safe for concurrent use.
type takenOut struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	clusters map[inventory.Key]map[string]time.Time
}

func newTakenOut(c clock.PassiveClock) *takenOut {
	return &takenOut{clock: c, clusters: map[inventory.Key]map[string]time.Time{}}
}

// note records the clusters of a page of a Placement from which others have taken some.
func (t *takenOut) note(key inventory.Key, clusters []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(clusters) > 0 && t.clusters[key] == nil {
		t.clusters[key] = make(map[string]time.Time, len(clusters))
	}
	for _, cluster := range clusters {
		t.clusters[key][cluster] = t.clock.Now()
	}
}

// of returns the clusters that others have taken out of the decisions of a Placement lately, in any order.
func (t *takenOut) of(key inventory.Key) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	clusters, known := t.clusters[key]
	if !known {
		return nil
	}
	maps.DeleteFunc(clusters, func(_ string, at time.Time) bool { return t.clock.Since(at) >= removalbudget.Window })
	if len(clusters) == 0 {
		delete(t.clusters, key)
	}
	return slices.Collect(maps.Keys(clusters))
}

// forget drops the clusters of a Placement.
func (t *takenOut) forget(key inventory.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.clusters, key)
}
