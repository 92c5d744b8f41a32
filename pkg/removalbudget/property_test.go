// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// frame is the decisions at a time.
type frame struct {
	at        time.Time
	decisions map[string]bool
}

// drain is an event of disturb after which clusters leave that do not count.
const drain = "drain"

// disturb changes anything but the spec of the Placement; more are further events.
func (fx *fixture) disturb(t *rapid.T, more ...string) {
	i := rapid.IntRange(0, 23).Draw(t, "cluster")
	last := min(24, i+rapid.SampledFrom([]int{1, 1, 1, 3, 24}).Draw(t, "many"))
	events := append([]string{"delete", "add", "relabel", "taint", "away", "unbind", "bind", "wait"}, more...)
	switch rapid.SampledFrom(events).Draw(t, "event") {
	case "delete":
		fx.remove(i, last)
	case "add":
		fx.relabel(i, last)
	case "relabel":
		fx.relabel(i, last, "region", "us")
	case "taint":
		fx.taintAll(i, last, "down")
	case "away":
		fx.taintAll(i, last, clusterv1.ManagedClusterTaintUnreachable)
	case drain:
		fx.taintAll(i, last, openmcpv1alpha1.TerminatingTaint)
	case "unbind":
		fx.DeleteBinding("ns", "all")
	case "bind":
		fx.bind()
	case "wait":
		fx.now = fx.now.Add(time.Duration(rapid.IntRange(1, 700).Draw(t, "seconds")) * time.Second)
	}
}

// lost returns how many clusters the decisions have lost within a window, and of how many: the clusters of any of its states that the last
// state lacks. With a number of clusters it is the shortfall of the last state, unless replaced clusters count. Clusters that have ever joined
// are not
// among the losses, because those that joined within the window do not count (docs/spec/differences.md B19).
func (fx *fixture) lost(window []frame, joined map[string]bool) (lost, of int) {
	last := window[len(window)-1].decisions
	ever, stayed := map[string]bool{}, 0
	for _, f := range window {
		known := 0
		for cluster := range f.decisions {
			ever[cluster] = true
			if !joined[cluster] {
				known++
			}
		}
		stayed = max(stayed, known)
	}

	if wanted := fx.placement.Spec.NumberOfClusters; wanted != nil && !fx.countReplaced {
		// On the way from one cluster to another both are there.
		return max(0, min(stayed, int(*wanted))-len(last)), min(len(ever), int(*wanted))
	}
	for cluster := range ever {
		if !last[cluster] && !joined[cluster] {
			lost++
		}
	}
	return lost, len(ever)
}

// joined returns the clusters that were not in the first decisions of a history and came later.
func joined(history []frame) map[string]bool {
	joined, before := map[string]bool{}, map[string]bool{}
	for _, f := range history {
		for cluster := range f.decisions {
			if !before[cluster] && len(before) > 0 {
				joined[cluster] = true
			}
		}
		before = f.decisions
	}
	return joined
}

// forever is longer than a test has events for.
const forever = 1000 * time.Hour

// With random clusters and events, and without a change of the spec, no ten minutes lose more than the percentage, wherever the process
// ends and is followed by another, which knows only the status. An evaluation of a held result at its RequeueAt is not blocked forever
// for the same reason.
func TestNoWindowLosesMoreThanTheShare(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := newFixture(rapid.IntRange(0, 20).Draw(t, "clusters"))
		if rapid.Bool().Draw(t, "limited") {
			n := int32(rapid.IntRange(0, 20).Draw(t, "wanted"))
			w.placement.Spec.NumberOfClusters = &n
			w.decisions = map[string]bool{}
		}
		w.countReplaced, w.scopeHold = rapid.Bool().Draw(t, "replaced count"), new(forever)
		percent := rapid.SampledFrom([]int{0, 10, 30, 50, 99}).Draw(t, "percent")
		history := []frame{{at: start, decisions: w.decisions}}

		for range rapid.IntRange(1, 40).Draw(t, "events") {
			w.disturb(t)
			bits := rapid.Uint32().Draw(t, "stays")
			stays := map[string]bool{}
			for i := range 24 {
				stays[name(i)] = bits&(1<<i) != 0
			}
			ends := []string{afterTheReserve, withinThePages, afterThePages, toTheEnd, toTheEnd, toTheEnd}
			end := rapid.SampledFrom(ends).Draw(t, "end")
			ruling := w.stepUntil(percent, end, stays)
			history = append(history, frame{at: w.now, decisions: w.decisions})

			window := slices.DeleteFunc(slices.Clone(history), func(f frame) bool { return !w.now.Before(f.at.Add(removalbudget.Window)) })
			if lost, of := w.lost(window, joined(history)); lost*100 > percent*of && (lost > 1 || percent == 0) {
				t.Fatalf("lost %d of %d within the window, and may lose %d %%", lost, of, percent)
			}

			there := map[string]bool{}
			for i, f := range history { // A cluster that left within the window was in the decisions before; times are rounded up.
				if i == len(history)-1 || w.now.Before(history[i+1].at.Add(removalbudget.Window+time.Second)) {
					maps.Copy(there, f.decisions)
				}
			}
			if count := ruling.Count; ruling.Held && (count.Now != len(ruling.Leaving) || count.Removed() > count.Total || count.Total > len(there)) {
				t.Fatalf("%v, of which %d are held and %d have left; there were %v", count, len(ruling.Leaving), count.Past, sorted(there))
			}

			if end == toTheEnd {
				if ruling.Held {
					ruling = w.step(percent) // Clusters may have joined while others were held, which moves RequeueAt.
				}
				checkWake(t, w, ruling, percent)
			}
		}
	})
}

// checkWake checks that RequeueAt of a held result is the first time at which time alone allows it.
func checkWake(t *rapid.T, w *fixture, ruling removalbudget.Result, percent int) {
	if !ruling.Held {
		return
	}
	later := *w
	free := time.Time{}

	for _, left := range ruling.Recent.Clusters {
		at := left.Add(removalbudget.Window)
		if later.now = at; !later.judge(percent).Held && (free.IsZero() || at.Before(free)) {
			free = at
		}
	}
	if free.IsZero() && ruling.RequeueAt.After(start.Add(forever-time.Minute)) {
		return // The clusters have left the scope.
	}

	later.now = ruling.RequeueAt
	if then := later.judge(percent); then.Held && then.Conditions(done.Written)[0].Reason == removalbudget.ReasonLastCluster {
		return // The last one stays then, for another cause.
	}

	if !free.Equal(ruling.RequeueAt) {
		t.Fatalf("looked at again at %v, and free at %v", ruling.RequeueAt, free)
	}
}

// With no share, the ruling says nothing, remembers nothing and holds nothing, whatever happens.
func TestWithoutAShareThereIsNoGuard(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := newFixture(20)
		for range rapid.IntRange(1, 10).Draw(t, "events") {
			w.disturb(t)
			ruling := w.step(removalbudget.NoLimit)
			if ruling.Held || ruling.Recent.Clusters != nil || ruling.Record(done) != nil ||
				ruling.Conditions(true) != nil || ruling.SpecChanged() || !ruling.RequeueAt.IsZero() {
				t.Fatalf("got %+v", ruling)
			}
		}
	})
}

// A placement of v1alpha1 has the same budget, and is released by its own resource.
func TestOlderPlacements(t *testing.T) {
	w := newFixture(4)
	placement := api.V1beta1.Read(w.placement)
	placement.API = api.V1alpha1
	w.remove(0, 4)
	ruling := removalbudget.NewBudget(placement.RemovalSubject(), removalbudget.Limit{Percent: new(50)}).Check(w.result(), nil, w.decisions, w.now)
	message := ruling.Conditions(true)[0].Message
	if !ruling.Held || !strings.Contains(message, "placements."+string(inventory.V1alpha1)+" p -n ns ") {
		t.Errorf("got %q", message)
	}
}
