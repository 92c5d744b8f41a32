// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// place is where a cluster stands.
type place struct {
	page  string
	group api.Group
}

// groupOf is the group that a page says it is of.
func (s *store) groupOf(t rapid.TB, page *api.Page) api.Group {
	group, named := s.codec().Group(page)
	if !named {
		t.Fatalf("%s names no group: %v", page.Name, page.Labels)
	}
	return group
}

// places are all places of every cluster.
func (s *store) places(t rapid.TB) map[string][]place {
	places := map[string][]place{}
	for name, page := range s.pages {
		for _, cluster := range page.Clusters() {
			places[cluster] = append(places[cluster], place{page: name, group: s.groupOf(t, page)})
		}
	}
	return places
}

// sizes are the members of every group, each counted once. Pages that are about to be deleted do not count.
func (s *store) sizes(t rapid.TB, plan Plan) map[api.Group]int {
	members := map[api.Group]map[string]bool{}
	for name, page := range s.pages {
		if slices.ContainsFunc(plan.Deletes, func(gone *api.Page) bool { return gone.Name == name }) {
			continue
		}
		key := s.groupOf(t, page)
		if members[key] == nil {
			members[key] = map[string]bool{}
		}
		for _, cluster := range page.Clusters() {
			members[key][cluster] = true
		}
	}

	sizes := map[api.Group]int{}
	for key, clusters := range members {
		sizes[key] = len(clusters)
	}
	return sizes
}

// watch checks the state between two writes, as a consumer does.
func (s *store) watch(t rapid.TB, plan Plan, stay []string, length int, before map[api.Group]int) {
	union := s.union()
	for _, cluster := range stay {
		if !union[cluster] {
			t.Fatalf("%s is missing", cluster)
		}
	}
	indices := map[int]bool{}
	for _, page := range s.pages {
		indices[s.groupOf(t, page).Index] = true
	}

	for key, size := range s.sizes(t, plan) {
		if size > max(length, before[key]) {
			t.Fatalf("group %v has %d members, may have %d and had %d", key, size, length, before[key])
		}
	}
	for index := range len(indices) {
		if !indices[index] {
			t.Fatalf("the group indices %v have a gap", indices)
		}
	}

	for name, page := range s.pages {
		if len(page.Decisions) > PageSize {
			t.Fatalf("%s has %d decisions", name, len(page.Decisions))
		}
	}
}

// docs/architecture.md law 5, docs/spec/differences.md B1: whatever changes, and wherever a plan is cut off and made anew, between any two
// writes every cluster that stays is in a page, no page or group holds more than it may, and the group indices have no gap.
func TestMakeBeforeBreak(t *testing.T) {
	ofEachKind(t, 20, func(t *rapid.T, k kind) {
		s := newStore(k.draw(t))
		s.settle(t, s.schedule(drawState(t)))
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			if rapid.Bool().Draw(t, "asked otherwise") {
				s.evaluate(k.draw(t))
			}
			s.pass(t, k)
			present := s.union()
			result := s.schedule(drawState(t))
			stay := slices.DeleteFunc(selected(result), func(name string) bool { return !present[name] })
			length := result.Request.GroupLength.Of(len(result.Selected))

			for again := true; again; {
				plan := s.plan(result)
				requests := s.requests(t, result, plan)
				cut := rapid.IntRange(1, len(requests)).Draw(t, "killed after")
				before := s.sizes(t, plan)
				for _, request := range requests[:cut] {
					request()
					s.watch(t, plan, stay, length, before)
				}
				again = cut < len(requests) || plan.Requeue
			}

			s.check(t, result)
		}
	})
}

// docs/spec/differences.md B2: a cluster that stays keeps its group and its page unless they are given up or too full; there are no more
// groups and pages than needed; from a clean start everything stands in order.
func TestStableSlots(t *testing.T) {
	ofEachKind(t, 30, func(t *rapid.T, k kind) {
		s := newStore(k.draw(t))
		s.settle(t, s.schedule(drawState(t)))
		if rapid.Bool().Draw(t, "asked otherwise") {
			s.evaluate(k.draw(t))
		}

		// Between two updates of the scores pages are stable in every order; by such an update groups are.
		s.pass(t, k)
		result := s.schedule(drawState(t))
		sorted := s.desired(result).sorted
		length := result.Request.GroupLength.Of(len(result.Selected))
		before := s.places(t)
		portions := s.portionOf(result)
		full := map[api.Group]int{}
		for cluster, at := range before {
			if name, selected := portions[cluster]; selected && name == at[0].group.Name {
				full[at[0].group]++
			}
		}

		s.settle(t, result)

		after := s.places(t)
		for cluster, was := range before {
			name, stays := portions[cluster]
			if !stays || name != was[0].group.Name || full[was[0].group] > length {
				continue
			}
			if page := s.pages[was[0].page]; page != nil && s.groupOf(t, page) == was[0].group && !sorted && after[cluster][0] != was[0] {
				t.Fatalf("%s moved from %v to %v without need", cluster, was[0], after[cluster][0])
			}
			if s.has(t, was[0].group) && after[cluster][0].group != was[0].group {
				t.Fatalf("%s moved from group %v to %v without need", cluster, was[0].group, after[cluster][0].group)
			}
		}

		s.noMoreThanNeeded(t, result, length)
	})
}

// has reports whether there is a page of the group.
func (s *store) has(t rapid.TB, group api.Group) bool {
	for _, page := range s.pages {
		if s.groupOf(t, page) == group {
			return true
		}
	}
	return false
}

func (s *store) desired(result *scheduling.Result) Desired {
	return NewDesired(result, s.existing(), s.now.Time)
}

// selected returns the names of the selected clusters.
func selected(result *scheduling.Result) []string {
	names := make([]string, 0, len(result.Selected))
	for _, verdict := range result.Best() {
		names = append(names, verdict.Cluster.Name)
	}
	return names
}

// portionOf returns the name of the group rule of each selected cluster.
func (s *store) portionOf(result *scheduling.Result) map[string]string {
	names := map[string]string{}
	desired := s.desired(result)
	for _, partition := range desired.partitions {
		for _, cluster := range desired.namesOf(partition.clusters) {
			names[cluster] = partition.name
		}
	}
	return names
}

func (s *store) noMoreThanNeeded(t rapid.TB, result *scheduling.Result, length int) {
	wantGroups := 0
	for _, partition := range s.desired(result).partitions {
		wantGroups += (len(partition.clusters) + length - 1) / length
	}
	sizes := s.sizes(t, Plan{})
	if len(sizes) != max(wantGroups, 1) {
		t.Fatalf("there are %d groups, %d are needed", len(sizes), wantGroups)
	}

	wantPages := 0
	for _, size := range sizes {
		wantPages += max(1, (size+PageSize-1)/PageSize)
	}
	if len(s.pages) != wantPages {
		t.Fatalf("there are %d pages, %d are needed", len(s.pages), wantPages)
	}
	if first := s.pages[PageName(s.placement.Name, 1)]; len(s.pages) == 1 && first == nil {
		t.Fatalf("the only page is %v", s.pages)
	}
}

// namesOf returns the names of clusters.
func (d *Desired) namesOf(ids []int32) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, d.desired.at(int(id)))
	}
	return names
}
