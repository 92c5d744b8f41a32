// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// A follower receives one notification for all changes since its last receive. Touch changes the version of a Placement.
func TestBroadcast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, changed := NewBroadcast(), make(chan struct{})
		go all.Run(t.Context(), changed)
		first, second := all.Changes(t.Context()), all.Changes(t.Context())
		changed <- struct{}{}
		changed <- struct{}{}
		synctest.Wait()
		if len(first) != 1 || len(second) != 1 || all.Version() != 2 {
			t.Errorf("%d and %d notifications, version %d; want 1, 1 and 2", len(first), len(second), all.Version())
		}
		key := inventory.NewPlacementKey(inventory.V1beta1, "team-a", "web")
		if before := all.VersionOf(key); before != 0 {
			t.Errorf("the number of the Placement is %d before the first change", before)
		}
		for n := range uint64(2) {
			all.Touch(key)
			if want := uint64(time.Now().UnixNano()) + n; all.VersionOf(key) != want {
				t.Errorf("the number of the Placement is %d after change %d, want %d", all.VersionOf(key), n, want)
			}
		}
	})
}
