package decision

import (
	"slices"
	"strconv"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// place is where a cluster stands.
type place struct {
	page  string
	group groupKey
}

func labelsOf(t *rapid.T, page *clusterv1beta1.PlacementDecision) groupKey {
	index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	if err != nil {
		t.Fatal(err)
	}

	return groupKey{index: index, name: page.Labels[clusterv1beta1.DecisionGroupNameLabel]}
}

// places are all places of every cluster.
func (s *store) places(t *rapid.T) map[string][]place {
	places := map[string][]place{}

	for name, page := range s.pages {
		for _, cluster := range clusterNames(page) {
			places[cluster] = append(places[cluster], place{page: name, group: labelsOf(t, page)})
		}
	}

	return places
}

// sizes are the members of every group, each counted once. Pages that are about to be deleted do not count.
func (s *store) sizes(t *rapid.T, plan Plan) map[groupKey]int {
	members := map[groupKey]map[string]bool{}

	for name, page := range s.pages {
		if slices.ContainsFunc(plan.Deletes, func(gone *clusterv1beta1.PlacementDecision) bool { return gone.Name == name }) {
			continue
		}

		key := labelsOf(t, page)
		if members[key] == nil {
			members[key] = map[string]bool{}
		}

		for _, cluster := range clusterNames(page) {
			members[key][cluster] = true
		}
	}

	sizes := map[groupKey]int{}
	for key, clusters := range members {
		sizes[key] = len(clusters)
	}

	return sizes
}

// watch looks at a moment between two writes, as a consumer does.
func (s *store) watch(t *rapid.T, plan Plan, stay []string, length int, before map[groupKey]int) {
	union := s.union()
	for _, cluster := range stay {
		if !union[cluster] {
			t.Fatalf("%s is missing", cluster)
		}
	}

	indices := map[int]bool{}

	for _, page := range s.pages {
		indices[labelsOf(t, page).index] = true
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
		if len(page.Status.Decisions) > PageSize {
			t.Fatalf("%s has %d decisions", name, len(page.Status.Decisions))
		}
	}
}

// Law 5, ours.md B1: whatever changes, and wherever a plan is cut off and made anew, between any two writes every cluster that stays is in
// a page, no page or group holds more than it may, and the group indices have no gap.
func TestMakeBeforeBreak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: drawStrategy(t)})
		s := &store{placement: placement, pages: map[string]*clusterv1beta1.PlacementDecision{}}
		s.settle(t, selecting(placement, drawFleet(t)...))

		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			if rapid.Bool().Draw(t, "asked otherwise") {
				s.placement = s.placement.DeepCopy()
				s.placement.Spec.DecisionStrategy = drawStrategy(t)
			}

			present := s.union()
			fleet := drawFleet(t)
			stay := slices.DeleteFunc(slices.Clone(fleet), func(name string) bool { return !present[name] })
			result := selecting(s.placement, fleet...)
			length := result.Request.GroupLength.Of(len(result.Selected))

			for again := true; again; {
				plan := NewPlan(result, s.present())
				requests := s.requests(result, plan)
				cut := rapid.IntRange(1, len(requests)).Draw(t, "killed after")
				before := s.sizes(t, plan)

				for _, request := range requests[:cut] {
					request()
					s.watch(t, plan, stay, length, before)
				}

				again = cut < len(requests) || plan.Again
			}

			s.check(t, result)
		}
	})
}

// ours.md B2, "Stable slots": a cluster that stays keeps its group and its page unless they are given up or too full; there are no more
// groups and pages than needed; from a clean start everything stands in order.
func TestStableSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: drawStrategy(t)})
		s := &store{placement: placement, pages: map[string]*clusterv1beta1.PlacementDecision{}}
		s.settle(t, selecting(placement, drawFleet(t)...))

		if rapid.Bool().Draw(t, "asked otherwise") {
			s.placement = s.placement.DeepCopy()
			s.placement.Spec.DecisionStrategy = drawStrategy(t)
		}

		result := selecting(s.placement, drawFleet(t)...)
		length := result.Request.GroupLength.Of(len(result.Selected))
		before := s.places(t)
		portions := portionOf(result)
		full := map[groupKey]int{}

		for cluster, at := range before {
			if name, selected := portions[cluster]; selected && name == at[0].group.name {
				full[at[0].group]++
			}
		}

		s.settle(t, result)

		after := s.places(t)
		for cluster, was := range before {
			name, stays := portions[cluster]
			if !stays || name != was[0].group.name || full[was[0].group] > length || s.pages[was[0].page] == nil {
				continue
			}

			if labelsOf(t, s.pages[was[0].page]) == was[0].group && after[cluster][0] != was[0] {
				t.Fatalf("%s moved from %v to %v without need", cluster, was[0], after[cluster][0])
			}
		}

		s.noMoreThanNeeded(t, result, length)
	})
}

// portionOf is the name of the portion of each selected cluster.
func portionOf(result *scheduling.Result) map[string]string {
	names := map[string]string{}

	for _, portion := range Portions(result) {
		for _, cluster := range portion.Clusters {
			names[cluster] = portion.Name
		}
	}

	return names
}

func (s *store) noMoreThanNeeded(t *rapid.T, result *scheduling.Result, length int) {
	wantGroups := 0
	for _, portion := range Portions(result) {
		wantGroups += (len(portion.Clusters) + length - 1) / length
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
