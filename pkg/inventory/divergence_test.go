// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/placement/comparer"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestCorruptViewCountsAsDivergence checks that the comparer of a running hub finds and counts a corrupt view, and repairs it, so that it
// is counted once.
func TestCorruptViewCountsAsDivergence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := smallHub()
		requests := map[inventory.Key]*scheduling.Request{}
		var keys []inventory.Key
		for _, placement := range subscribers() {
			request := api.V1beta1.Read(placement).Request(selector.NewCompiler())
			requests[request.Key], keys = request, append(keys, request.Key)
		}
		differences(i) // Every placement has been evaluated.

		before := divergences(t)
		compare := &comparer.Comparer{
			Placements: func() []inventory.Key { return keys },
			Compare: func(_ context.Context, key inventory.Key) (string, bool, error) {
				snapshot, now := i.SnapshotFor(key), time.Unix(0, 0)
				return scheduling.Difference(scheduling.Schedule(requests[key], snapshot, nil, now),
					scheduling.Reference(requests[key], snapshot, nil, now)), true, nil
			},
			Diverged: func(inventory.Key) { i.Rebuild() },
			Busy:     func() bool { return false },
		}
		rotation := func() float64 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(keys))*time.Second+time.Second/2)
			defer cancel()
			if err := compare.Start(ctx); err != nil {
				t.Fatal(err)
			}
			return divergences(t) - before
		}

		if found := rotation(); found != 0 {
			t.Errorf("%v divergences of a hub that is in order", found)
		}
		i.Corrupt("the views", "eu")
		if found := rotation(); found != 1 {
			t.Errorf("%v divergences after a view was corrupted, want 1", found)
		}
		if found := rotation(); found != 1 {
			t.Errorf("%v divergences after it was mended, want no more", found-1)
		}
	})
}

func divergences(t *testing.T) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "placement_hub_divergences_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}

	t.Fatal("nobody counts divergences")
	return 0
}
