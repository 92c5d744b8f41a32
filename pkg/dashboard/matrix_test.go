// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// docs/spec/differences.md C3: the cell of the score has what counts instead of a missing score.
func TestTheScoreHasItsParts(t *testing.T) {
	total, reported, counted := int64(70), int64(90), int64(-100)
	cell := scoreCell(&counterfactual.ClusterExplanation{Score: &total, Prioritizers: []counterfactual.Prioritizer{
		{Name: "AddOn/demo/cpu", Weight: 2, Score: &reported, Points: 180},
		{Name: "AddOn/demo/memory", Weight: 1, Score: &counted, Points: -100, Missing: "no score, counted as -100"},
		{Name: "ResourceAllocatableCPU", Weight: 1},
	}})
	want := matrixCell{State: passes, Text: "70", Clause: "AddOn/demo/cpu 90 x 2 = 180; " +
		"AddOn/demo/memory -100 x 1 = -100 (no score, counted as -100); ResourceAllocatableCPU - x 1 = 0"}
	if diff := cmp.Diff(want, cell); diff != "" {
		t.Error(diff)
	}
}

// docs/spec/differences.md E1: held clusters come first, with a verdict and a chip of their own; the column of removals says what ends the hold. A
// cluster that is deleted has a row and an explanation too, and hides no stage of the others.
func TestE1HeldClusters(t *testing.T) {
	objects := append(world(), cluster("us2", "us"), decisionOn("eu1", "gone", "us1", "us2"))
	objects[0].SetAnnotations(map[string]string{removalbudget.PercentAnnotation: "50"})
	pages := newPages(newTestHub(objects...))
	const release = "stays until the removal budget permits its removal, or generation 0 is released"
	for _, tc := range []struct {
		path  string
		times map[string]int
	}{
		{"/placements/team-a/web", map[string]int{
			"held<q>" + release: 3, `<span class="state fair">Held</span>`: 3, "Held 3</a> <a": 1, "Selected 1</a>": 1, "Predicate 1</th>": 1,
			"ManagedCluster is deleted</td>": 1, "label region In [eu]: is us</td>": 2,
		}},
		{"/placements/team-a/web?verdict=Held", map[string]int{
			`<span class="state fair">Held</span>`: 3, `<span class="state good">Selected</span>`: 0,
		}},
		{"/placements/team-a/web?verdict=Predicate", map[string]int{"No cluster matches": 1}},
		{"/placements/team-a/web?cluster=gone", map[string]int{
			", would leave: ManagedCluster is deleted; " + release: 1, "decision: web-decision-1": 1, "in no cluster set": 0,
		}},
		{"/clusters/us1", map[string]int{"would leave: predicate 1 label region In [eu]: is us; " + release: 1}},
	} {
		text := as(t, pages, "jane", http.MethodGet, tc.path, "").Body.String()
		for want, times := range tc.times {
			if got := strings.Count(text, want); got != times {
				t.Errorf("%s has %q %d times, want %d: %s", tc.path, want, got, times, text)
			}
		}
	}
}
