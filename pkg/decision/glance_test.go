package decision

import (
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// checkGlance wants that the plan is the one that is made without a glance.
func (s *store) checkGlance(t rapid.TB, result *scheduling.Result) {
	present := s.present()

	want, got := newPlan(result, present, s.now, nil), NewPlan(result, present, s.now)
	if asText(got) != asText(want) {
		t.Fatalf("by a glance\n%s\nwant\n%s\n%v\n%v", asText(got), asText(want), steps(got), steps(want))
	}
}

// Whatever is there, and whatever is to be there, a glance knows no other plan than that of the whole answer: few clusters come and go,
// pages lack something, plans are cut off.
func TestGlanceKnowsTheSamePlan(t *testing.T) {
	ofEachKind(t, func(t *rapid.T, k kind) {
		s := newStore(k.draw(t))
		fleet := fleet(rapid.SampledFrom([]int{0, 1, 4, 99, 100, 101, 150, 201}).Draw(t, "fleet"))
		seed := drawSeed(t)

		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			s.pass(t, k)

			if rapid.Bool().Draw(t, "availability or scores change") {
				seed = drawSeed(t)
			}

			result := s.schedule(shuffled(seed, fleet...))
			s.checkGlance(t, result)

			requests := s.requests(t, result, s.plan(result))
			if rapid.Bool().Draw(t, "cut off") {
				requests = requests[:rapid.IntRange(0, len(requests)).Draw(t, "after")]
			}

			for _, request := range requests {
				request()
			}

			s.checkGlance(t, result)

			if names := slices.Sorted(maps.Keys(s.pages)); len(names) > 0 && rapid.IntRange(0, 3).Draw(t, "meddled with") == 0 {
				s.meddle(t, rapid.SampledFrom(names).Draw(t, "page"))
				s.checkGlance(t, result)
			}

			if len(fleet) > 0 && rapid.Bool().Draw(t, "lost") {
				fleet = slices.DeleteFunc(fleet, func(name string) bool { return name == fleet[0] })
			}

			if rapid.Bool().Draw(t, "gained") {
				fleet = append(fleet, rapid.StringMatching(`(c|canary|x)-[0-9]{4}`).Filter(func(name string) bool {
					return !slices.Contains(fleet, name)
				}).Draw(t, "name"))
			}
		}
	})
}

// Where nothing changed, or a cluster came or went, a glance is enough.
func TestGlanceIsEnough(t *testing.T) {
	for _, tc := range []struct {
		reason string
		spec   clusterv1beta1.PlacementSpec
		known  bool // when clusters come and go
	}{
		{"one group", clusterv1beta1.PlacementSpec{}, true},
		{"several groups", clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(120), "canary")}, true},
		{"by score", byScore("60s"), true},
		{"by score, which follow at any time", byScore("0s"), false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newStore(placementOf(tc.spec))
			clusters := append(fleet(250), "canary-1", "canary-2")
			s.settle(t, s.schedule(shuffled(1, clusters...)))

			for _, change := range []struct {
				reason   string
				clusters []string
				known    bool
				writes   int
			}{
				{"nothing changed", clusters, true, 0},
				{"one is lost", clusters[1:], tc.known, 1},
				{"one is gained", append(slices.Clip(clusters), "canary-3"), tc.known, 1},
				{"one is lost and one gained", append(clusters[1:len(clusters):len(clusters)], "c-000"), tc.known, 1},
			} {
				result := s.schedule(shuffled(1, change.clusters...))
				sorted, _ := schedule(result, s.present(), s.now.Time)

				plan, known := look(result, s.present()).plan(sorted)
				expect(t, change.reason+": a glance is enough", change.known, known)

				if known {
					expect(t, change.reason+": writes", change.writes, len(plan.Writes))
				}

				s.checkGlance(t, result)
			}
		})
	}
}

// What a placement without any clusters has is one empty page, which is known by a glance too.
func TestGlanceAtNothing(t *testing.T) {
	for _, k := range kinds {
		s := newStore(placementOf(clusterv1beta1.PlacementSpec{}))
		if k.byScore {
			s = newStore(placementOf(byScore("60s")))
		}

		none := s.schedule(worldOf())
		s.settle(t, none)
		s.at(30 * time.Second)

		plan, known := look(none, s.present()).plan(false)
		expect(t, k.name+": known and empty", []bool{true, true}, []bool{known, plan.Empty()})
		expect(t, k.name+": groups", []record.GroupStatus{{Pages: []string{"p-decision-1"}}}, plan.Groups)
	}
}
