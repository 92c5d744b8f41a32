// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/test/expect"
)

var noon = time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)

func reportsOf(state *explain.State, all bool, wanted func(inventory.Key) bool) explain.Reports {
	reports := explain.Reports{Now: metav1.NewTime(noon), Placements: []explain.Report{}}
	for _, evaluation := range state.Evaluate(noon, wanted) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, all))
	}
	return reports
}

func testState(t *testing.T) *explain.State {
	t.Helper()
	content, err := os.ReadFile("testdata/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(content))
}

func TestOutputIsGolden(t *testing.T) {
	one := func(name string) func(inventory.Key) bool {
		return func(key inventory.Key) bool { return key.Name == name }
	}
	for _, tc := range []struct {
		golden, reason string
		format         printers.Format
		all            bool
		wanted         func(inventory.Key) bool
	}{
		{golden: "table", reason: "everything that a report can say", format: printers.FormatTable},
		{golden: "table-all", reason: "clusters out of scope are listed", format: printers.FormatTable, all: true, wanted: one("short")},
		{golden: "name", reason: "best first, kept decisions by name", format: printers.FormatName},
		{golden: "json", reason: "stable names", format: printers.FormatJSON},
		{golden: "yaml", reason: "as JSON", format: printers.FormatYAML, all: true, wanted: one("scores")},
		{golden: "json-none", reason: "no placement is an empty list", format: printers.FormatJSON, wanted: one("nosuch")},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			t.Log(tc.reason)
			var out bytes.Buffer
			if err := printers.Print(&out, tc.format, reportsOf(testState(t), tc.all, tc.wanted), allStyle); err != nil {
				t.Fatal(err)
			}
			expect.Golden(t, filepath.Join("testdata", tc.golden+".golden"), out.String())
		})
	}
}

func TestTextOfOthersKeepsTheTable(t *testing.T) {
	report := explain.Report{
		Placement: "ns/a", Selected: []string{},
		Conditions: []metav1.Condition{{Type: "PlacementSatisfied", Status: "False", Reason: "R", Message: "first\n | second\n"}},
		Clusters: []explain.ClusterReport{
			{Name: "c1", Verdict: "Predicate", Reason: "a\tb\n  c"},
			{Name: "cluster-2", Verdict: "Taint", Reason: "d"},
		},
	}
	want := "ns/a: none selected\n" +
		"  PlacementSatisfied=False (R): first\n     | second\n" +
		"  CLUSTER    VERDICT    SCORE  REASON\n" +
		"  c1         Predicate  -      a b c\n" +
		"  cluster-2  Taint      -      d\n"

	var out bytes.Buffer
	if err := printers.Print(&out, printers.FormatTable, explain.Reports{Placements: []explain.Report{report}}, allStyle); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// allStyle is the style of the reports of simulate.
var allStyle = printers.Style{Options: document.Options{All: "--all"}}
