// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// moment is a Snapshot with its results.
type moment struct {
	snapshot   *inventory.Snapshot
	requests   map[inventory.Key]*Request
	incumbents map[inventory.Key]map[string]bool
	now        time.Time
	answers    map[inventory.Key]string
	written    map[inventory.Key]string
}

// look takes a Snapshot and evaluates all Requests on it; Schedule must return the result of Reference.
func (c *course) look(t rapid.TB, snapshot *inventory.Snapshot) *moment {
	m := &moment{
		snapshot: snapshot, requests: maps.Clone(c.requests), incumbents: map[inventory.Key]map[string]bool{}, now: c.now,
		answers: map[inventory.Key]string{}, written: map[inventory.Key]string{},
	}
	for key, request := range m.requests {
		m.incumbents[key] = c.incumbents(key)
		result := Schedule(request, snapshot, m.incumbents[key], m.now)
		if different := Difference(result, Reference(request, snapshot, m.incumbents[key], m.now)); different != "" {
			t.Fatalf("the indexed engine says of %v: %s", key, different)
		}
		c.inventory.UpdateDependencies(key, result.Dependencies())
		m.answers[key], m.written[key] = strings.Join(result.lines(), "\n"), written(result, m.incumbents[key])
	}

	return m
}

// again evaluates all Requests on the Snapshot again; no later event may have changed the results.
func (m *moment) again(t rapid.TB) {
	for key, request := range m.requests {
		result := Schedule(request, m.snapshot, m.incumbents[key], m.now)
		if now := strings.Join(result.lines(), "\n"); now != m.answers[key] {
			t.Fatalf("a snapshot of generation %d said of %v\n%s\nand says later\n%s", m.snapshot.Generation, key, m.answers[key], now)
		}
	}
}

// pass moves the clock, mostly forward and sometimes back.
func (c *course) pass(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "passes") == 0 {
		c.now = now.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "seconds"))*time.Second + time.Duration(rapid.IntRange(-1, 1).Draw(t, "ns")))
	}
}

// docs/architecture.md law 8: after any events, in any order, at any time, and with any cached results, Schedule returns the result of
// Reference. docs/architecture.md law 3: Affected contains the Placements whose result changed.
func TestIndexedIsReference(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		c := newCourse(compiler)
		c.beginning(t)
		kept := []*moment{c.look(t, c.inventory.SnapshotFor(c.keys()...))}
		for range rapid.IntRange(1, 25).Draw(t, "events") {
			c.pass(t)
			before := c.look(t, c.inventory.SnapshotFor(c.keys()...))
			happened := c.event(t)
			c.checkDuplicate(t)

			// Without the names, those that are new are asked without an index.
			after := c.look(t, c.inventory.SnapshotFor(rapid.SampledFrom([][]inventory.Key{nil, c.keys()}).Draw(t, "enrolled")...))
			if !happened.silent {
				checkAffected(t, before, after, happened.affected)
			}
			kept = append(kept, before)
			kept = kept[max(0, len(kept)-4):]
			for _, m := range kept {
				m.again(t)
			}
		}

		c.checkForgets(t)
	})
}

// beginning returns a course with some objects.
func (c *course) beginning(t *rapid.T) {
	for _, set := range courseSets {
		c.set("set "+set, func(i *inventory.Inventory) inventory.Affected { return i.SetClusterSet(setOf(set, "", nil)) })
		c.set("binding ns1/"+set, func(i *inventory.Inventory) inventory.Affected { return i.SetBinding(bindingOf("ns1", set)) })
	}
	for range rapid.IntRange(0, 6).Draw(t, "clusters at first") {
		c.clusterEvent(t, false)
	}
	for range rapid.IntRange(1, 4).Draw(t, "placements at first") {
		c.placementEvent(t, false)
	}
}

// checkDuplicate sends an object again, which affects nothing.
func (c *course) checkDuplicate(t *rapid.T) {
	if len(c.objects) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(c.objects))).Draw(t, "again")
	if affected := c.objects[name](c.inventory); len(affected.Subscribers) > 0 {
		t.Fatalf("%s as it is already affects %v", name, affected.Subscribers)
	}
}

func checkAffected(t *rapid.T, before, after *moment, affected inventory.Affected) {
	for key, is := range after.written {
		if was := before.written[key]; was != is && !slices.Contains(affected.Subscribers, key) {
			t.Fatalf("%v is not among %v (%s), but its answer was\n%s\nand is\n%s", key, affected.Subscribers, affected.Cause, was, is)
		}
	}
}

// checkForgets compares with a new inventory of the existing objects.
func (c *course) checkForgets(t *rapid.T) {
	known := c.look(t, c.inventory.SnapshotFor(c.keys()...))
	fresh := c.look(t, c.fresh(t).SnapshotFor(c.keys()...))
	for key, want := range fresh.answers {
		if got := known.answers[key]; got != want {
			t.Fatalf("after all that happened the answer for %v is\n%s\nand of the objects alone\n%s", key, got, want)
		}
	}
}

// Many goroutines evaluate on Snapshots while events are handled.
func TestSnapshotsAreReadConcurrently(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		c := newCourse(compiler)
		c.beginning(t)
		var workers sync.WaitGroup
		failed := make(chan string, 1)

		for range rapid.IntRange(1, 5).Draw(t, "events") {
			m := c.look(t, c.inventory.SnapshotFor(c.keys()...))
			for range 3 {
				workers.Go(func() {
					for key, request := range m.requests {
						result := Schedule(request, m.snapshot, m.incumbents[key], m.now)
						if strings.Join(result.lines(), "\n") != m.answers[key] {
							select {
							case failed <- key.String():
							default:
							}
						}
					}
				})
			}

			c.pass(t)
			c.event(t)
		}

		workers.Wait()
		select {
		case key := <-failed:
			t.Fatalf("the answer for %s differs when it is asked for at once", key)
		default:
		}
	})
}
