// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

// clone is a store that may go another way. Pages and placement are replaced and never changed, so they may be shared.
func (s *store) clone() *store {
	clone := *s
	clone.pages = maps.Clone(s.pages)
	return &clone
}

// scoresOf are the recorded scores of all clusters.
func (s *store) scoresOf() map[string]int64 {
	scores := map[string]int64{}
	existing := s.existing()
	index := newPageIndex(existing, clusterNames{names: existing.clusters()})
	for id, decision := range index.decisions() {
		scores[index.desired.at(id)] = decision.Score
	}
	return scores
}

// checkSorted wants that the clusters of every group are in the order of their scores over all its pages, and that those are of now.
func (s *store) checkSorted(t rapid.TB, result *scheduling.Result) {
	recorded := s.scoresOf()
	for _, verdict := range result.Best() {
		if name := verdict.Cluster.Name; recorded[name] != verdict.Score {
			t.Fatalf("the score of %s is %d, recorded is %d", name, verdict.Score, recorded[name])
		}
	}

	for _, at := range newPageIndex(s.existing(), clusterNames{}).groupIndices {
		for _, group := range at.groups {
			var all []api.Decision
			for _, page := range group.pages {
				all = append(all, page.Decisions...)
			}
			if !slices.IsSortedFunc(all, inOrder) {
				t.Fatalf("group %d %q is not sorted: %v", group.Index, group.Name, all)
			}
		}
	}
}

// docs/spec/differences.md B1 and B7: while several full pages are sorted anew, and wherever that is cut off, no cluster is missing between
// any two writes, and in the end all stand in order. Groups are not touched by it.
func TestResortingMakesBeforeBreak(t *testing.T) {
	property.CheckTimes(t, 20, func(t *rapid.T) {
		spec := byScore("60s")
		spec.DecisionStrategy = byPrefix(rapid.SampledFrom([]intstr.IntOrString{
			intstr.FromString("100%"), intstr.FromInt32(150), intstr.FromInt32(200),
		}).Draw(t, "length"))
		clusters := fleet(rapid.SampledFrom([]int{100, 101, 200, 300, 399, 400}).Draw(t, "size"))
		s := newStore(placementOf(spec))
		s.settle(t, s.schedule(shuffled(drawSeed(t), clusters...)))

		// Holes in the pages and groups.
		step := rapid.SampledFrom([]int{0, 3, 50}).Draw(t, "one of so many leaves")
		left := map[string]bool{}
		for n := 1; step > 0 && n < len(clusters); n += step {
			left[clusters[n]] = true
		}
		clusters = slices.DeleteFunc(clusters, func(name string) bool { return left[name] })
		s.settle(t, s.schedule(shuffled(drawSeed(t), clusters...)))

		groups := map[string]api.Group{}
		for cluster, at := range s.places(t) {
			groups[cluster] = at[0].group
		}
		s.at(time.Minute)
		result := s.schedule(shuffled(drawSeed(t), clusters...))
		length := result.Request.GroupLength.Of(len(clusters))

		for cut := 0; ; cut++ {
			killed := s.clone()
			plan := killed.plan(result)
			requests := killed.requests(t, result, plan)
			before := killed.sizes(t, plan)
			for _, request := range requests[:cut] {
				request()
				killed.watch(t, plan, clusters, length, before)
			}

			meanwhile := killed.places(t)
			rest := killed.plan(result)
			sizes := killed.sizes(t, rest)
			for _, request := range killed.requests(t, result, rest) {
				request()
				killed.watch(t, rest, clusters, length, sizes)
			}
			killed.settle(t, result)
			killed.checkSorted(t, result)

			for cluster, at := range killed.places(t) {
				// Who was parked in a page of its own when it was cut off has no group to come back to.
				parked := !slices.ContainsFunc(meanwhile[cluster], func(p place) bool { return p.group == groups[cluster] })
				if at[0].group != groups[cluster] && !parked {
					t.Fatalf("cut off after %d of %d: %s moved from group %v to %v", cut, len(requests), cluster, groups[cluster], at[0].group)
				}
			}
			if cut == len(requests) {
				return
			}
		}
	})
}

// docs/spec/differences.md B1: a retry goes on where the last one failed. However often it fails at the first request or at the one behind
// it, there is never more than one page on the way. What is merely confirmed does not count as a request.
func TestRetriesLeaveNoPagesBehind(t *testing.T) {
	clusters := fleet(200)
	for _, carriedOut := range []int{1, 2} {
		s := newStore(placementOf(byScore("60s")))
		s.settle(t, s.schedule(shuffled(1, clusters...)))
		s.at(time.Minute)
		result := s.schedule(shuffled(2, clusters...))
		tries := 0
		moving := func(w Write) bool { return !w.Touch }

		for plan := s.plan(result); slices.ContainsFunc(plan.Writes, moving); plan = s.plan(result) {
			tries++
			if tries > 10 {
				t.Fatalf("there is still something to write: %v", steps(plan))
			}
			for _, request := range s.requests(t, result, plan)[:slices.IndexFunc(plan.Writes, moving)+carriedOut] {
				request()
				s.watch(t, plan, clusters, len(clusters), nil)
			}

			if len(s.pages) > 3 {
				t.Fatalf("there are %d pages, two are needed, and one to park in: %v", len(s.pages), s.pageLines())
			}
		}

		s.settle(t, result)
		s.checkSorted(t, result)
	}

	refused := newStore(placementOf(byScore("60s")))
	refused.settle(t, refused.schedule(shuffled(1, clusters...)))
	refused.at(time.Minute)

	result := refused.schedule(shuffled(2, clusters...))
	for range 3 {
		for n, request := range refused.requests(t, result, refused.plan(result)) {
			if n > 0 || len(refused.pages) == 3 {
				break // No decisions can be written.
			}
			request()
		}
	}
	expect(t, "pages after three tries", 3, len(refused.pages))

	spare := refused.plan(result).Writes[0]
	expect(t, "the spare page is filled", []bool{false, true}, []bool{spare.Create, spare.UpdateDecisions})
	expect(t, "the uid it is planned on", refused.pages[spare.Desired.Name].UID, spare.Desired.UID)
}

// docs/spec/differences.md B7: over any time, scores and order move when they are due and at no other time; a plan wakes exactly when there
// will be something to do then; and between two updates only who comes and goes is written.
func TestScoresMoveOnlyWhenDue(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		s := newStore(placementOf(byScore("60s")))
		drawn := func() *scheduling.Result {
			from := rapid.IntRange(0, 3).Draw(t, "from")
			to := rapid.SampledFrom([]int{3, 5, 100, 101, 200, 201}).Draw(t, "to")
			return s.schedule(shuffled(drawSeed(t), fleet(to)[from:]...))
		}
		passed := time.Duration(0)

		for range rapid.IntRange(2, 6).Draw(t, "changes") {
			passed += time.Duration(rapid.SampledFrom([]int{0, 1, 30, 59, 60, 61, 200}).Draw(t, "seconds")) * time.Second
			s.at(passed)
			result := drawn()
			before := s.clone()
			last := s.placement.Status.LastScoreUpdate
			due := last == nil || s.now.Sub(last.Time) >= time.Minute

			first := s.plan(result)
			s.settle(t, result)
			switch {
			case due:
				s.checkSorted(t, result)
			case !s.placement.Status.LastScoreUpdate.Equal(last):
				t.Fatalf("the time of the scores moved from %v to %v", last, s.placement.Status.LastScoreUpdate)
			default:
				s.checkUnmoved(t, before, result)
			}

			if moved := !s.placement.Status.LastScoreUpdate.Equal(last); due && moved != (last == nil || !first.Empty()) {
				t.Fatalf("the time of the scores moved: %v; the plan was %v", moved, steps(first))
			}
			s.checkWake(t, result, first)
		}
	})
}

// checkUnmoved wants that who was there has its score, and its page if that is still there, and comes before and after the same others.
func (s *store) checkUnmoved(t rapid.TB, before *store, result *scheduling.Result) {
	was, is := before.scoresOf(), s.scoresOf()
	places := s.places(t)
	for cluster, at := range before.places(t) {
		if _, stays := is[cluster]; !stays {
			continue
		}
		if is[cluster] != was[cluster] {
			t.Fatalf("the score of %s moved from %d to %d before it was due", cluster, was[cluster], is[cluster])
		}
		if s.pages[at[0].page] != nil && places[cluster][0] != at[0] {
			t.Fatalf("%s moved from %v to %v before it was due", cluster, at[0], places[cluster][0])
		}
	}

	for _, verdict := range result.Best() {
		if _, known := was[verdict.Cluster.Name]; !known && is[verdict.Cluster.Name] != verdict.Score {
			t.Fatalf("%s is new with score %d, and is said to have %d", verdict.Cluster.Name, verdict.Score, is[verdict.Cluster.Name])
		}
	}
}

// checkWake wants that a settled store wakes exactly when there is something to do when the scores are due, and that the plan before
// it did if that is so: nobody may ask again in between.
func (s *store) checkWake(t rapid.TB, result *scheduling.Result, first Plan) {
	plan := s.plan(result)
	due := s.clone()
	due.now.Time = s.placement.Status.LastScoreUpdate.Add(time.Minute)

	todo := due.now.After(s.now.Time) && !due.plan(result).Empty()
	if todo != !plan.RequeueAt.IsZero() || todo && !plan.RequeueAt.Equal(due.now.Time) {
		t.Fatalf("the plan wakes at %v; at %v there is to do: %v", plan.RequeueAt, due.now, todo)
	}
	if todo && !first.RequeueAt.Equal(due.now.Time) {
		t.Fatalf("the plan that was carried out wakes at %v, and at %v there is something to do", first.RequeueAt, due.now)
	}
	if !todo {
		return
	}

	due.settle(t, result)
	due.checkSorted(t, result)
	if !due.placement.Status.LastScoreUpdate.Equal(&due.now) || fmt.Sprint(steps(due.plan(result))) != "[]" {
		t.Fatalf("at the due time the scores are said to be of %v", due.placement.Status.LastScoreUpdate)
	}
}
