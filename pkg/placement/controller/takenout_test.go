// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// docs/spec/differences.md B18: whom others have taken out is known for the window of the removal budget, by Placement.
func TestB18TakenOutEndsWithTheWindow(t *testing.T) {
	fake := testclock.NewFakePassiveClock(time.Unix(1000, 0))
	taken := newTakenOut(fake)
	key := inventory.NewPlacementKey(api.V1beta1.Name(), "ns", "p")
	of := func() []string { return slices.Sorted(slices.Values(taken.of(key))) }

	taken.note(key, nil)
	if got := of(); len(got) > 0 || len(taken.clusters) > 0 {
		t.Errorf("got %v of a page that has lost none, and %v is kept", got, taken.clusters)
	}
	taken.note(key, []string{"c1", "c2"})
	fake.SetTime(fake.Now().Add(removalbudget.Window - time.Second))
	taken.note(key, []string{"c2", "c3"})
	if got := of(); !slices.Equal(got, []string{"c1", "c2", "c3"}) {
		t.Errorf("got %v within the window", got)
	}
	fake.SetTime(fake.Now().Add(time.Second))
	if got := of(); !slices.Equal(got, []string{"c2", "c3"}) {
		t.Errorf("got %v after the window of c1", got)
	}
	fake.SetTime(fake.Now().Add(removalbudget.Window))
	if got := of(); len(got) > 0 || len(taken.clusters) > 0 {
		t.Errorf("got %v after the window, and %v is kept", got, taken.clusters)
	}
	taken.note(key, []string{"c1"})
	taken.forget(key)
	if got := of(); len(got) > 0 {
		t.Errorf("got %v of a Placement that is gone", got)
	}
}
