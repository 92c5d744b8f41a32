// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

// gaugeValues returns the gauges of placements except zeros; the values of labels are in the order of their names.
func gaugeValues(t rapid.TB) map[string]float64 {
	t.Helper()
	return valuesOf(t, "placements", "misconfigured_placements", "stalled_placements", "skipped_placements", "decisions", "decision_pages",
		"placement_clusters", "cel_errors", "stale_scores")
}

// valuesOf returns the gauges of these names except zeros.
func valuesOf(t rapid.TB, ours ...string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}

	for _, family := range families {
		name, found := strings.CutPrefix(family.GetName(), hub)
		if !found || !slices.Contains(ours, name) {
			continue
		}

		for _, metric := range family.GetMetric() {
			words := []string{name}
			for _, label := range metric.GetLabel() {
				words = append(words, label.GetValue())
			}
			if value := metric.GetGauge().GetValue(); value != 0 {
				values[strings.Join(words, " ")] = value
			}
		}
	}

	return values
}

func expectExported(t *testing.T, when string, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, gaugeValues(t)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// A standby reports nothing. A leader reports all placements, and replaces the former values of a placement. A former leader resets the
// gauges.
func TestOnlyTheLeaderExportsPlacementStates(t *testing.T) {
	s := NewPlacementStates[string]()
	good := PlacementState{Satisfied: true, Reason: "AllDecisionsScheduled", Decisions: 150, Pages: 2}
	good.Stages[slices.Index(scheduling.Stages(), scheduling.StageSelected)] = 150
	good.Stages[slices.Index(scheduling.Stages(), scheduling.StageTaint)] = 7
	bad := PlacementState{Reason: "NoManagedClusterMatched", Misconfigured: true, Stalled: true, Pages: 1}
	poor := PlacementState{Reason: "NotAllDecisionsScheduled", Decisions: 1, Pages: 1, CELErrors: 4, StaleScores: 5}
	s.Note("a", good)
	s.Note("off", PlacementState{Skipped: "disabled"})
	expectExported(t, "a standby", map[string]float64{})

	s.Lead()
	s.Note("b", bad)
	expectExported(t, "a leader", map[string]float64{
		"placements AllDecisionsScheduled true": 1, "placements NoManagedClusterMatched false": 1, "misconfigured_placements": 1,
		"stalled_placements": 1, "skipped_placements disabled": 1, "decisions": 150, "decision_pages": 3,
		"placement_clusters Selected": 150, "placement_clusters Taint": 7,
	})

	s.Note("a", poor)
	s.Note("a", poor)
	s.Forget("b")
	s.Forget("b")
	expectExported(t, "after a change and a deletion", map[string]float64{
		"placements NotAllDecisionsScheduled false": 1, "skipped_placements disabled": 1, "decisions": 1, "decision_pages": 1,
		"cel_errors": 4, "stale_scores": 5,
	})

	s.Resign()
	s.Note("a", good)
	s.Forget("off")
	expectExported(t, "after that", map[string]float64{})
}

// After any sequence of calls, the gauges are the sum over the existing placements.
func TestPlacementGaugesAddUp(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		s := NewPlacementStates[int]()
		defer s.Resign()
		want, leads := map[int]int{}, false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			key := rapid.IntRange(1, 4).Draw(t, "placement")
			switch rapid.SampledFrom([]string{"note", "note", "forget", "lead", "resign"}).Draw(t, "step") {
			case "note":
				want[key] = rapid.IntRange(0, 3).Draw(t, "decisions")
				s.Note(key, PlacementState{Satisfied: true, Reason: fmt.Sprintf("R%d", want[key]), Decisions: want[key]})
			case "forget":
				delete(want, key)
				s.Forget(key)
			case "lead":
				leads = true
				s.Lead()
			case "resign":
				leads = false
				s.Resign()
			}
		}

		sums := map[string]float64{}
		for _, decisions := range want {
			if !leads {
				break
			}
			sums[fmt.Sprintf("placements R%d true", decisions)]++
			if decisions > 0 {
				sums["decisions"] += float64(decisions)
			}
		}

		if diff := cmp.Diff(sums, gaugeValues(t)); diff != "" {
			t.Fatalf("told (-want +got):\n%s", diff)
		}
	})
}
