// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// scores has the scores of the clusters.
type scores map[string]int32

func (s scores) state() *inventory.Inventory {
	i := stateOf(slices.Collect(maps.Keys(s))...)
	for name, score := range s {
		i.SetScores(scoreOf(name, score))
	}
	return i
}

// with returns a copy with some scores changed or added.
func (s scores) with(changes scores) scores {
	changed := maps.Clone(s)
	maps.Copy(changed, changes)
	return changed
}

// at sets the clock to a time since the beginning.
func (s *store) at(since time.Duration) { s.now = metav1.NewTime(now.Add(since)) }

// pageLines returns one line for each page, sorted by number, with the scores after the names.
func (s *store) pageLines() []string {
	lines := []string{}
	for _, page := range s.existing().Pages {
		group, _ := s.codec().Group(page)
		words := []string{fmt.Sprintf("%s %d %q:", strings.TrimPrefix(page.Name, "p-decision-"), group.Index, group.Name)}
		for _, d := range page.Decisions {
			words = append(words, fmt.Sprintf("%s=%d", d.Cluster, d.Score))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// updatedAt returns the time of the last update of the scores in the status, since the beginning.
func (s *store) updatedAt() string {
	last := s.placement.Status.LastScoreUpdate
	if last == nil {
		return "never"
	}
	return last.Sub(now.Time).String()
}

// wakesAt returns RequeueAt of the plan, since the beginning.
func wakesAt(plan Plan) string {
	if plan.RequeueAt.IsZero() {
		return "never"
	}
	return plan.RequeueAt.Sub(now.Time).String()
}

// expectScores checks that the plan is empty, and compares the pages.
func (s *store) expectScores(t *testing.T, world scores, updated, wakes string, pages ...string) {
	t.Helper()
	plan := s.plan(s.schedule(world.state()))
	expect(t, "steps", []string{}, steps(plan))
	expect(t, "pages", pages, s.pageLines())
	expect(t, "updated at", updated, s.updatedAt())
	expect(t, "wakes at", wakes, wakesAt(plan))
}

// moment is one step of a story: what the scores are at a time, and what is there once the plan of the time is carried out.
type moment struct {
	says    string
	at      time.Duration
	world   scores
	pages   []string
	updated string
	wakes   string
}

// docs/spec/differences.md B7 and D4: scores and order are updated at once the first time, and then at most once per scoreRateLimit.
func TestScoresFollowOncePerInterval(t *testing.T) {
	base := scores{"a": 1, "b": 5, "c": 3}
	changed := base.with(scores{"a": 9})
	joined := changed.with(scores{"n": 7})
	left := scores{"a": 9, "c": 3, "n": 7}
	for _, tc := range []struct {
		reason string
		limit  string
		story  []moment
	}{
		{"a minute, which is the default too", "", []moment{
			{"never written: due at once", 0, base, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "never"},
			{"a change waits", 10 * time.Second, changed, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "1m0s"},
			{"the change is taken back: nobody has to wake up", 15 * time.Second, base, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "never"},
			{"a newcomer has its score, and nobody else moves", 20 * time.Second, joined, []string{`1 0 "": n=7 b=5 c=3 a=1`}, "0s", "1m0s"},
			{"somebody leaves, and nobody else moves", 30 * time.Second, left, []string{`1 0 "": n=7 c=3 a=1`}, "0s", "1m0s"},
			{"almost due", time.Minute - 1, left, []string{`1 0 "": n=7 c=3 a=1`}, "0s", "1m0s"},
			{"due", time.Minute, left, []string{`1 0 "": a=9 n=7 c=3`}, "1m0s", "never"},
			{"nothing to do when it is due again", 2 * time.Minute, left, []string{`1 0 "": a=9 n=7 c=3`}, "1m0s", "never"},
			{"a change that comes later need not wait", 5 * time.Minute, base, []string{`1 0 "": b=5 c=3 a=1`}, "5m0s", "never"},
		}},
		{"the score alone, with the order as it was", "10s", []moment{
			{"first", 0, base, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "never"},
			{"waits", time.Second, base.with(scores{"b": 6}), []string{`1 0 "": b=5 c=3 a=1`}, "0s", "10s"},
			{"due", 10 * time.Second, base.with(scores{"b": 6}), []string{`1 0 "": b=6 c=3 a=1`}, "10s", "never"},
		}},
		{"no bound at 0", "0s", []moment{
			{"first", 0, base, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "never"},
			{"at once", 0, changed, []string{`1 0 "": a=9 b=5 c=3`}, "0s", "never"},
			{"a second later", time.Second, base, []string{`1 0 "": b=5 c=3 a=1`}, "1s", "never"},
			{"nothing changed", 2 * time.Second, base, []string{`1 0 "": b=5 c=3 a=1`}, "1s", "never"},
		}},
		{"a time that a process with a wrong clock has written", "", []moment{
			{"first", 0, base, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "never"},
			{"not farther in the future than an interval: it holds", -time.Minute, changed, []string{`1 0 "": b=5 c=3 a=1`}, "0s", "1m0s"},
			{"farther: it does not", -time.Minute - time.Second, changed, []string{`1 0 "": a=9 b=5 c=3`}, "-1m1s", "never"},
		}},
		{"equal scores are sorted by name, and lower than 0 is lower than 0", "", []moment{
			{"first", 0, scores{"d": -1, "c": 0, "b": 2, "a": 0}, []string{`1 0 "": b=2 a=0 c=0 d=-1`}, "0s", "never"},
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newStore(placementOf(byScore(tc.limit)))
			for _, m := range tc.story {
				t.Log(m.says)
				s.at(m.at)
				s.settle(t, s.schedule(m.world.state()))
				s.expectScores(t, m.world, m.updated, m.wakes, m.pages...)
			}
		})
	}
}

// docs/spec/differences.md D4: the pages of a group follow the order of the scores, the first page the highest.
func TestScoresFillPagesInOrder(t *testing.T) {
	s := newStore(placementOf(byScore("")))
	world := func(score func(n int) int32) scores {
		all := scores{}
		for n, name := range fleet(201) {
			all[name] = score(n)
		}
		return all
	}

	for step, score := range []func(int) int32{
		func(n int) int32 { return int32(n % 7) }, func(n int) int32 { return int32(-n % 5) }, func(n int) int32 { return int32(n % 2) },
	} {
		s.at(time.Duration(step) * time.Minute)

		// Somebody deletes the first page: the new one of that name is the first again.
		if step == 2 {
			delete(s.pages, "p-decision-1")
		}
		now := world(score)
		s.settle(t, s.schedule(now.state()))
		want := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
			return inOrder(api.Decision{Cluster: a, Score: int64(now[a])}, api.Decision{Cluster: b, Score: int64(now[b])})
		})
		var got []string

		for n, page := range s.existing().Pages {
			expect(t, "the size of "+page.Name, []int{100, 100, 1}[n], len(page.Decisions))
			got = append(got, page.Clusters()...)
		}
		expect(t, "the order over all pages", want, got)
	}
}

// docs/spec/differences.md D4 and B2: with new scores clusters change their pages, but not their groups.
func TestScoresDoNotMoveGroups(t *testing.T) {
	spec := byScore("")
	spec.DecisionStrategy = byPrefix(intstr.FromInt32(2), "canary")
	s := newStore(placementOf(spec))
	before := scores{"canary-1": 1, "canary-2": 2, "x-1": 1, "x-2": 2, "x-3": 3, "x-4": 4}
	after := scores{"canary-1": 4, "canary-2": 3, "x-1": 4, "x-2": 3, "x-3": 2, "x-4": 1}
	s.settle(t, s.schedule(before.state()))
	s.expectScores(t, before, "0s", "never",
		`1 0 "canary": canary-2=2 canary-1=1`, `2 1 "": x-4=4 x-3=3`, `3 2 "": x-2=2 x-1=1`)

	s.at(time.Minute)
	s.settle(t, s.schedule(after.state()))
	s.expectScores(t, after, "1m0s", "never",
		`1 0 "canary": canary-1=4 canary-2=3`, `2 1 "": x-3=2 x-4=1`, `3 2 "": x-1=4 x-2=3`)
}

// docs/spec/differences.md B7: without sortBy: Score there are no scores, and existing scores are removed.
func TestSortByClusterNameAgain(t *testing.T) {
	world := scores{"a": 1, "b": 5, "c": 3}
	s := newStore(placementOf(byScore("")))
	s.settle(t, s.schedule(world.state()))
	s.expectScores(t, world, "0s", "never", `1 0 "": b=5 c=3 a=1`)

	for _, by := range []clusterv1beta1.PlacementSortByType{"", clusterv1beta1.PlacementSortByClusterName} {
		scored := &store{placement: s.placement, pages: maps.Clone(s.pages), now: s.now}
		spec := byScore("")
		spec.SortBy = by
		scored.evaluate(placementOf(spec))
		scored.at(time.Second)
		scored.settle(t, scored.schedule(world.state()))
		scored.expectScores(t, world, "never", "never", `1 0 "": a=0 b=0 c=0`)

		// And back again: as for the first time.
		scored.evaluate(placementOf(byScore("")))
		scored.settle(t, scored.schedule(world.state()))
		scored.expectScores(t, world, "1s", "never", `1 0 "": b=5 c=3 a=1`)
	}
}

// docs/spec/differences.md A1 and A4: a stalled result keeps scores, order and their time, and is not requeued.
func TestScoresOfBlockedDecisionsStay(t *testing.T) {
	world := scores{"a": 1, "b": 5}
	wrong := byScore("")
	wrong.NumberOfClusters = ptr.To[int32](-1)
	unknown := byScore("")
	unknown.SortBy = "Colour"
	for _, tc := range []struct {
		reason string
		spec   clusterv1beta1.PlacementSpec
		world  func(*inventory.Inventory) *inventory.Inventory
	}{
		{"a broken set", byScore(""), breakSet},
		{"a mistake", wrong, func(i *inventory.Inventory) *inventory.Inventory { return i }},
		{"an order that there is not", unknown, func(i *inventory.Inventory) *inventory.Inventory { return i }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newStore(placementOf(byScore("")))
			s.settle(t, s.schedule(world.state()))
			s.evaluate(placementOf(tc.spec))
			for _, passed := range []time.Duration{time.Second, time.Hour} {
				s.at(passed)
				plan := s.plan(s.schedule(tc.world(scores{"a": 9, "b": 8}.state())))
				expect(t, "steps", []string{}, steps(plan))
				expect(t, "wakes at", "never", wakesAt(plan))
				expect(t, "the time of the scores", s.placement.Status.LastScoreUpdate, plan.ScoresAt)
			}
		})
	}
}

// A new Placement with a stalled result has no scores, so it has no time of them.
func TestBlockedFromTheStartHasNoScores(t *testing.T) {
	spec := byScore("")
	spec.NumberOfClusters = ptr.To[int32](-1)
	s := newStore(placementOf(spec))
	plan := s.plan(s.schedule(stateOf("a")))
	expect(t, "steps", []string{`create and fill p-decision-1 group 0 "": `}, steps(plan))
	expect(t, "the time of the scores", (*metav1.Time)(nil), plan.ScoresAt)
}

// A terminating page with a finalizer does not restore an old score.
func TestScoresOfPagesThatAreBeingDeletedAreOld(t *testing.T) {
	world := scores{"a": 1, "b": 5}
	s := newStore(placementOf(byScore("")))
	s.settle(t, s.schedule(world.state()))
	leaving := edited(page(7, 0, ""), func(p *api.Page) {
		p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: now.Time}, []string{"example.com/wait"}
		p.Decisions = []api.Decision{{Cluster: "a", Score: 77}}
	})
	s.pages[leaving.Name] = leaving

	plan := s.plan(s.schedule(world.state()))
	expect(t, "steps", []string{}, steps(plan))
	expect(t, "wakes at", "never", wakesAt(plan))
}

// docs/spec/differences.md B7: a reason that somebody wrote goes with the next plan, also between two updates of the scores, and with the
// score as it was.
func TestReasonStaysEmptyBesideAScore(t *testing.T) {
	s := newStore(placementOf(byScore("")))
	s.settle(t, s.schedule(scores{"a": 1}.state()))
	reasoned := *s.pages["p-decision-1"]
	reasoned.Decisions = []api.Decision{{Cluster: "a", Score: 1, Reason: "because"}}
	s.put(&reasoned)
	s.at(time.Second)
	changed := scores{"a": 2}
	expect(t, "steps", []string{`fill p-decision-1 group 0 "": a`}, steps(s.plan(s.schedule(changed.state()))))
	s.settle(t, s.schedule(changed.state()))
	s.expectScores(t, changed, "0s", "1m0s", `1 0 "": a=1`)
}

// An API server stores whole seconds. A truncated time would make the next update early.
func TestTimeOfScoresIsRoundedUp(t *testing.T) {
	for _, tc := range []struct {
		after, want time.Duration
	}{{0, 0}, {time.Nanosecond, time.Second}, {999 * time.Millisecond, time.Second}, {time.Second, time.Second}} {
		got := wholeSecond(metav1.NewTime(now.Add(tc.after)))
		expect(t, tc.after.String(), now.Add(tc.want), got.Time)
	}
}
