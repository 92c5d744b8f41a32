// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

// consumer reads the pages of a store as consumers do, after every request (docs/spec/differences.md B5).
type consumer struct {
	store *store
	seen  map[types.UID]*api.Page
}

func (s *store) consumer() *consumer {
	c := &consumer{store: s}
	c.seen = c.pages()
	return c
}

func (c *consumer) pages() map[types.UID]*api.Page {
	pages := map[types.UID]*api.Page{}
	for _, page := range c.store.pages {
		pages[page.UID] = page
	}
	return pages
}

// List returns the pages to a tracker.
func (c *consumer) List(apilabels.Selector, string) ([]*clusterv1beta1.PlacementDecision, error) {
	var list []*clusterv1beta1.PlacementDecision
	for _, page := range c.store.pages {
		if written, ok := api.V1beta1.Codec().Write(page).(*clusterv1beta1.PlacementDecision); ok {
			list = append(list, written)
		}
	}
	return list, nil
}

// look checks the state after a request.
func (c *consumer) look(t rapid.TB) {
	t.Helper()
	before := c.seen
	c.seen = c.pages()
	if c.store.placement.API != api.V1beta1 {
		return // The API has no groups.
	}
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placementOf(clusterv1beta1.PlacementSpec{}), c, nil)
	if err := tracker.Refresh(); err != nil {
		t.Fatal(err)
	}

	tracked := tracker.ExistingClusterGroupsBesides().GetClusters()
	if union := c.store.union(); len(tracked) != len(union) {
		t.Fatalf("a tracker sees %d of the %d clusters in the pages: %v", len(tracked), len(union), c.store.lines())
	}
	names := map[int]string{}

	for _, page := range c.seen {
		group := c.store.groupOf(t, page)
		if name, other := names[group.Index]; other && name != group.Name {
			t.Fatalf("index %d has the names %q and %q: %v", group.Index, name, group.Name, c.store.lines())
		}
		names[group.Index] = group.Name
	}

	for index := range len(names) {
		if _, is := names[index]; !is {
			t.Fatalf("index %d is missing: %v", index, c.store.lines())
		}
	}
	for uid, page := range c.seen {
		if was := before[uid]; was != nil {
			c.changed(t, was, page)
		}
	}
}

// changed checks a change of a page.
func (c *consumer) changed(t rapid.TB, before, after *api.Page) {
	t.Helper()
	was, is := c.store.groupOf(t, before), c.store.groupOf(t, after)
	if was.Index != is.Index {
		t.Fatalf("%s goes from index %d to %d", after.Name, was.Index, is.Index)
	}
	if was.Name != is.Name && len(before.Decisions)+len(after.Decisions) > 0 {
		t.Fatalf("%s goes from %q to %q with %d decisions before and %d after", after.Name, was.Name, is.Name,
			len(before.Decisions), len(after.Decisions))
	}
}

// lines returns the pages sorted by number, as text.
func (s *store) lines() []string {
	var lines []string
	for _, page := range s.existing().Pages {
		lines = append(lines, fmt.Sprintf("%s %s/%q: %s", page.Name, page.Labels[clusterv1beta1.DecisionGroupIndexLabel],
			page.Labels[clusterv1beta1.DecisionGroupNameLabel], clustersOf(page)))
	}
	return lines
}

// checkOrder checks that the group indices follow the order of the group rules (docs/spec/differences.md B8).
func (s *store) checkOrder(t rapid.TB, result *scheduling.Result) {
	t.Helper()
	if s.placement.API != api.V1beta1 {
		return
	}
	length := result.Request.GroupLength.Of(len(result.Selected))
	want := []string{}

	for _, partition := range s.desired(result).partitions {
		for range (len(partition.clusters) + length - 1) / length {
			want = append(want, partition.name)
		}
	}
	if len(want) == 0 {
		want = []string{""}
	}
	got := make([]string, len(want))

	for _, page := range s.pages {
		group := s.groupOf(t, page)
		if group.Index >= len(got) {
			t.Fatalf("there is an index %d, want %q: %v", group.Index, want, s.lines())
		}
		got[group.Index] = group.Name
	}
	if !slices.Equal(want, got) {
		t.Fatalf("the indices have the names %q, want %q: %v", got, want, s.lines())
	}
}

// grouped returns clusters whose label says which group rule they match.
func grouped(s *store, stages map[string]string) *scheduling.Result {
	i := stateOf()
	for name, stage := range stages {
		i.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"prefix": stage}}})
	}
	return s.schedule(i)
}

// drawRules draws group rules in any order, and a length of groups.
func drawRules(t *rapid.T) clusterv1beta1.DecisionStrategy {
	rules := rapid.Permutation([]string{"canary", "stage", "wave", "x"}).Draw(t, "rules")
	length := rapid.SampledFrom([]intstr.IntOrString{
		intstr.FromInt32(2), intstr.FromInt32(5), intstr.FromInt32(20), intstr.FromInt32(120), intstr.FromString("10%"), intstr.FromString("100%"),
	}).Draw(t, "length")
	return byPrefix(length, rules[:rapid.IntRange(0, len(rules)).Draw(t, "number of rules")]...)
}

// docs/spec/differences.md B1, B5, B8: clusters change their groups by labels and by spec, few or many at once, on several pages, and the
// process is interrupted. Consumers see one name at every index and no gap after every request, and the final indices follow the spec.
func TestRegroupingIsSeenByConsumers(t *testing.T) {
	property.CheckTimes(t, 20, func(t *rapid.T) {
		s := newStore(placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: drawRules(t)}))
		clusters := fleet(rapid.OneOf(rapid.IntRange(0, 8), rapid.IntRange(20, 150), rapid.SampledFrom([]int{250})).Draw(t, "clusters"))
		stages, stage := map[string]string{}, rapid.SampledFrom([]string{"canary", "stage", "wave", "x", "other"})
		for n, name := range clusters {
			stages[name] = []string{"canary", "stage", "x", "other", "other"}[n%5]
		}
		s.settle(t, grouped(s, stages))

		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			regroup(t, s, clusters, stages, stage)
			result := grouped(s, stages)
			present := s.union()
			stay := slices.DeleteFunc(selected(result), func(name string) bool { return !present[name] })

			for kills := rapid.IntRange(0, 3).Draw(t, "kills"); kills > 0; kills-- {
				s.carryOut(t, result, stay, rapid.IntRange(0, 40).Draw(t, "killed after"))
				if rapid.IntRange(0, 3).Draw(t, "changes meanwhile") == 0 {
					regroup(t, s, clusters, stages, stage)
					result = grouped(s, stages)
					stay = slices.DeleteFunc(stay, func(name string) bool { return stages[name] == "" })
				}
			}
			s.settleWatched(t, result, stay)
		}
	})
}

// regroup changes the labels of clusters, or the rules.
func regroup(t *rapid.T, s *store, clusters []string, stages map[string]string, stage *rapid.Generator[string]) {
	kind := rapid.SampledFrom([]string{"labels", "labels", "rules", "come and go"}).Draw(t, "kind")
	if len(clusters) == 0 {
		kind = "rules"
	}

	switch kind {
	case "rules":
		s.evaluate(placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: drawRules(t)}))
	case "labels":
		from, to := stage.Draw(t, "from"), stage.Draw(t, "to")
		moved := rapid.IntRange(1, len(clusters)).Draw(t, "moved")
		for _, name := range clusters {
			if moved > 0 && stages[name] == from {
				stages[name] = to
				moved--
			}
		}
	case "come and go":
		first := rapid.IntRange(0, len(clusters)-1).Draw(t, "first")
		for _, name := range clusters[first:min(len(clusters), first+rapid.IntRange(1, 60).Draw(t, "many"))] {
			if _, there := stages[name]; there {
				delete(stages, name)
			} else {
				stages[name] = stage.Draw(t, name)
			}
		}
	}
}

// carryOut sends that many requests of the plan, checks consumers after each, and reports whether the plan is complete.
func (s *store) carryOut(t rapid.TB, result *scheduling.Result, stay []string, most int) (all bool) {
	t.Helper()
	plan := s.plan(result)
	requests := s.requests(t, result, plan)
	before := s.sizes(t, plan)
	consumer := s.consumer()
	for n, request := range requests {
		if n == most {
			return false
		}
		request()
		s.watch(t, plan, stay, result.Request.GroupLength.Of(len(result.Selected)), before)
		consumer.look(t)
	}

	return !plan.Requeue
}

// mostRounds is the maximal number of plans until the plan is empty: one, and one for the name of a single page.
const mostRounds = 2

// settleWatched is settle with checks of consumers.
func (s *store) settleWatched(t rapid.TB, result *scheduling.Result, stay []string) {
	t.Helper()
	rounds := 0
	for all := false; !all; rounds++ {
		all = s.carryOut(t, result, stay, -1)
		s.check(t, result)
	}
	if rounds > mostRounds {
		t.Fatalf("it takes %d plans", rounds)
	}
	s.settle(t, result)
}

// portrait returns the names of the groups by index, and their numbers of clusters.
func (s *store) portrait(t rapid.TB) []string {
	sizes := s.sizes(t, Plan{})
	var lines []string
	for _, group := range slices.SortedFunc(maps.Keys(sizes), func(a, b api.Group) int { return a.Index - b.Index }) {
		lines = append(lines, strconv.Itoa(group.Index)+" "+group.Name+" "+strconv.Itoa(sizes[group]))
	}
	return lines
}

// A new group rule of a Placement with decisions gets its index in the order of the spec, and the groups after it move.
func TestSettledIndicesFollowTheSpec(t *testing.T) {
	stages := map[string]string{}
	for n, name := range fleet(12) {
		stages[name] = []string{"other", "other", "other", "canary", "stage", "other"}[n%6]
	}
	size := intstr.FromInt32(2)
	s := newStore(placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(size)}))
	s.settle(t, grouped(s, stages))
	expect(t, "no rules", []string{"0  2", "1  2", "2  2", "3  2", "4  2", "5  2"}, s.portrait(t))

	for _, step := range []struct {
		reason string
		rules  []string
		want   []string
	}{
		{"a rule is added", []string{"canary"}, []string{"0 canary 2", "1  2", "2  2", "3  2", "4  2", "5  2"}},
		{"one in front", []string{"stage", "canary"}, []string{"0 stage 2", "1 canary 2", "2  2", "3  2", "4  2", "5  2"}},
		{"they change places", []string{"canary", "stage"}, []string{"0 canary 2", "1 stage 2", "2  2", "3  2", "4  2", "5  2"}},
		{"the first one goes", []string{"stage"}, []string{"0 stage 2", "1  2", "2  2", "3  2", "4  2", "5  2"}},
	} {
		s.evaluate(placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(size, step.rules...)}))
		s.settleWatched(t, grouped(s, stages), fleet(12))
		expect(t, step.reason, step.want, s.portrait(t))
	}

	for n, name := range fleet(12) {
		if n%2 == 0 {
			stages[name] = "canary"
		}
	}
	s.evaluate(placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(size, "canary")}))
	s.settleWatched(t, grouped(s, stages), fleet(12))
	expect(t, "by labels", []string{"0 canary 2", "1 canary 2", "2 canary 2", "3 canary 2", "4  2", "5  2"}, s.portrait(t))
}
