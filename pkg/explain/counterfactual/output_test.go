// SPDX-License-Identifier: Apache-2.0

package counterfactual_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestOutputIsGolden(t *testing.T) {
	best, two := counterfactual.NewKey("team-a", "best"), counterfactual.NewKey("team-b", "two")
	apart := inventory.NewPlacementKey(inventory.V1alpha1, "team-a", "apart")
	every := []string{"eu1", "eu2", "us1", "us2", "e1", "gone"}
	for _, tc := range []struct {
		golden, reason string
		format         printers.Format
		key            inventory.Key
		clusters       []string
		color          bool
	}{
		{golden: "table", reason: "ranks, scores by prioritizer, what is behind", format: printers.FormatTable, key: best},
		{golden: "wide", reason: "what is decided, and where", format: printers.FormatWide, key: best},
		{golden: "json", reason: "stable names", format: printers.FormatJSON, key: best, clusters: []string{"us1", "eu1"}},
		{golden: "yaml", reason: "as JSON", format: printers.FormatYAML, key: two, clusters: []string{"eu2"}},
		{golden: "name", reason: "selected clusters", format: printers.FormatName, key: two},
		{golden: "story", reason: "every stage has its story", format: printers.FormatTable, key: best, clusters: every},
		{golden: "story-spread", reason: "domains", format: printers.FormatTable, key: two, clusters: every},
		{golden: "story-apart", reason: "the older API", format: printers.FormatTable, key: apart, clusters: every},
		{
			golden: "story-held", reason: "no answer", format: printers.FormatTable, key: counterfactual.NewKey("team-b", "wrong"),
			clusters: []string{"eu1"},
		},
		{golden: "color", reason: "colours take no room", format: printers.FormatTable, key: best, color: true},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			t.Log(tc.reason)
			var out bytes.Buffer
			explanations := counterfactual.Explanations{
				Now: metav1.NewTime(counterfactual.Noon), Placements: []counterfactual.Explanation{
					counterfactual.ExplainPlacement(t, counterfactual.NewTestState(t), tc.key, tc.clusters...),
				},
			}
			style := printers.Style{
				Options: document.Options{Scores: true, Wide: tc.format == printers.FormatWide, All: "-o wide"}, Color: tc.color,
			}

			if err := printers.Print(&out, tc.format, explanations, style); err != nil {
				t.Fatal(err)
			}
			expect.Golden(t, filepath.Join("testdata", tc.golden+".golden"), out.String())
		})
	}
}

func TestColoursAreAllThatColoursAdd(t *testing.T) {
	explanations := counterfactual.Explanations{Placements: []counterfactual.Explanation{
		counterfactual.ExplainPlacement(t, counterfactual.NewTestState(t), counterfactual.NewKey("team-a", "best"), "us1"),
	}}
	var plain, colored bytes.Buffer
	for out, color := range map[*bytes.Buffer]bool{&plain: false, &colored: true} {
		style := printers.Style{Options: document.Options{Scores: true}, Color: color}
		if err := printers.Print(out, printers.FormatTable, explanations, style); err != nil {
			t.Fatal(err)
		}
	}

	left := colored.String()
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"} {
		left = strings.ReplaceAll(left, code, "")
	}
	if left == colored.String() || left != plain.String() {
		t.Errorf("without its colours:\n%s\nplain:\n%s", left, plain.String())
	}
}

func TestUnknownClusterHasNoExplanation(t *testing.T) {
	for _, evaluation := range counterfactual.NewTestState(t).Evaluate(counterfactual.Noon, nil) {
		if _, known := counterfactual.Explain(evaluation, "nosuch"); known {
			t.Errorf("%s knows a cluster that does not exist", evaluation.Placement.Key())
		}
	}
}
