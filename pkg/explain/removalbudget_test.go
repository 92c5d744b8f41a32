// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// heldWorld is a hub that has lost two of the three clusters of placement ns/a, which lets no more than half of them go.
const (
	halfMayGo = ", generation: 1, annotations: {placement-hub.open-cluster-management.io/max-removal-percent: \"50\"}"
	whatIs    = "The decisions would lose 2 of 3 clusters: gone1, gone2, where no more than 50 % may leave within 10 minutes; causes: deleted (2). "
)

func stalledState(t *testing.T, metadata string) *explain.State {
	t.Helper()
	return read(t, diffFleet+placementA(metadata, inEurope)+page(1, 0, "", "eu1", "gone1", "gone2"))
}

// A report of held removals has the condition, keeps the clusters beside those that join, and still has a verdict for every cluster.
func TestReportsShowBlockedRemovals(t *testing.T) {
	reports := reportsOf(stalledState(t, halfMayGo), false, nil)
	var out bytes.Buffer
	if err := printers.Print(&out, printers.FormatTable, reports, allStyle); err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{
		"ns/a: clusters that would leave stay; the decisions have 5 clusters\n",
		"  RemovalHeld=True (TooManyClustersRemoved): " + whatIs,
		"  us1        Predicate  -      predicate 1 label region In [eu]: is us\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}

	if report := reports.Placements[0]; !report.Stalled || strings.Join(report.Selected, " ") != "eu1 eu2 eu3-large gone1 gone2" {
		t.Errorf("held %v, selected %v", report.Stalled, report.Selected)
	}
}

// What a hub with a share would do is answered for a share that is given, and nothing is said of removals otherwise.
func TestTheShareOfAHubIsGiven(t *testing.T) {
	state := stalledState(t, ", generation: 1")
	for _, tc := range []struct {
		share *int
		held  bool
	}{{share: nil}, {share: new(50), held: true}, {share: new(90)}} {
		state.Limit.Percent = tc.share
		if report := reportsOf(state, false, nil).Placements[0]; report.Stalled != tc.held {
			t.Errorf("held %v, want %v: %v", report.Stalled, tc.held, report.Conditions)
		}
	}
}

// A comparison says why clusters would stay, and which ones join (docs/spec/differences.md B12).
func TestDiffReportsBlockedRemovals(t *testing.T) {
	state := stalledState(t, halfMayGo)
	difference := explain.Diff(state, state, nil, noon).Placements[0]
	if !strings.HasPrefix(difference.Stalled, whatIs) || len(difference.Kept) != 3 || len(difference.Gained) != 2 || len(difference.Lost) != 0 {
		t.Errorf("got %+v", difference)
	}
}

// A note names deleted clusters that are kept in the decisions where no verdict does.
func TestExplanationsTellOfClustersThatAreGone(t *testing.T) {
	const note = "kept in the decisions, though there is no such ManagedCluster any more: gone1, gone2"
	held := stalledState(t, halfMayGo)
	invalid := read(t, diffFleet+placementA("", "{tolerations: [{operator: Exists, value: a}]}")+page(1, 0, "", "eu1", "gone1", "gone2"))
	for _, tc := range []struct {
		reason string
		state  *explain.State
		want   string
	}{{"the clusters have verdicts", held, ""}, {"there are no verdicts", invalid, note}} {
		report := tc.state.Explain(tc.state.Evaluate(noon, nil)[0], true)
		if got := strings.Join(report.Notes, "; "); got != tc.want {
			t.Errorf("%s: notes are %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// The main cause of a placement whose removals are held is what would remove them, with how to release it.
func TestUnsatisfiedReportsBlockedRemovals(t *testing.T) {
	state := stalledState(t, halfMayGo)
	evaluated := state.Unsatisfied(noon, nil).Placements
	writeStatus(t, state)
	written := state.WrittenUnsatisfied().Placements
	for _, tc := range []struct {
		list     []explain.UnsatisfiedPlacement
		selected int
	}{{list: evaluated, selected: 5}, {list: written, selected: 3}} {
		if len(tc.list) != 1 || !tc.list[0].Stalled || tc.list[0].Reason != "TooManyClustersRemoved" || tc.list[0].Selected != tc.selected ||
			!strings.HasPrefix(tc.list[0].Message, whatIs) {
			t.Errorf("got %+v", tc.list)
		}
	}
}

// A comparison whose removals are held says so too if it does not know the limit of the hub: an invalid annotation has taken the place of
// the one that said it.
func TestDiffTellsOfAnUnknownLimitWhileRemovalsAreBlocked(t *testing.T) {
	state := stalledState(t, halfMayGo)
	writeStatus(t, state)
	after := *state
	after.Placements = []api.Object{state.Placements[0].DeepCopyObject().(api.Object)}
	after.Placements[0].SetAnnotations(map[string]string{removalbudget.PercentAnnotation: "half"})
	difference := explain.Diff(state, &after, nil, noon).Placements[0]
	if difference.Stalled == "" || len(difference.Notes) == 0 || !strings.Contains(difference.Notes[0], "--max-removal-percent") {
		t.Errorf("stalled %q, notes %q", difference.Stalled, difference.Notes)
	}
}
