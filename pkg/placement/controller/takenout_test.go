// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

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

// docs/spec/differences.md B18: only pages as the hub has written them count, so that who may write pages names no other clusters.
func TestB18PagesOfOthersDoNotCount(t *testing.T) {
	key := inventory.NewPlacementKey(api.V1beta1.Name(), "ns", "p")
	e := &eventHandlers{state: &state{
		requests: &requests{converted: map[inventory.Key]convertedRequest{key: {version: api.Version{UID: "uid"}}}},
		contents: newContents(), takenOut: newTakenOut(testclock.NewFakePassiveClock(time.Unix(1000, 0))),
	}}
	page := func(clusters ...string) *api.Page {
		p := &api.Page{}
		p.Name = "p-decision-1"
		for _, cluster := range clusters {
			p.Decisions = append(p.Decisions, api.Decision{Cluster: cluster})
		}
		return p
	}
	e.state.contents.wrote(key, page("c1", "c2"), false)

	e.noteTakenOut(key, page("stranger"))
	if got := e.state.takenOut.of(key); len(got) > 0 {
		t.Errorf("got %v of a page that others had written", got)
	}
	other := page("c1", "c2")
	other.OwnerReferences = []metav1.OwnerReference{{UID: "former", Controller: ptr.To(true)}}
	e.noteTakenOut(key, other)
	if got := e.state.takenOut.of(key); len(got) > 0 {
		t.Errorf("got %v of a page of another Placement of that name", got)
	}
	e.noteTakenOut(key, page("c1", "c2"))
	if got := slices.Sorted(slices.Values(e.state.takenOut.of(key))); !slices.Equal(got, []string{"c1", "c2"}) {
		t.Errorf("got %v of a page of the hub", got)
	}
	if !lacks(page("c1"), page("c1", "c2")) || lacks(page("c2", "c1", "c3"), page("c1", "c2")) {
		t.Error("a page lacks what it had before, in any order")
	}
}
