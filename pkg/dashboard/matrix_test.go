// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
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
