package explain_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
		format         explain.Format
		all            bool
		wanted         func(inventory.Key) bool
	}{
		{golden: "table", reason: "everything that a report can say", format: explain.FormatTable},
		{golden: "table-all", reason: "clusters out of scope are listed", format: explain.FormatTable, all: true, wanted: one("short")},
		{golden: "name", reason: "best first, kept decisions by name", format: explain.FormatName},
		{golden: "json", reason: "stable names", format: explain.FormatJSON},
		{golden: "yaml", reason: "as JSON", format: explain.FormatYAML, all: true, wanted: one("scores")},
		{golden: "json-none", reason: "no placement is an empty list", format: explain.FormatJSON, wanted: one("nosuch")},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			var out bytes.Buffer
			if err := explain.Write(&out, tc.format, reportsOf(testState(t), tc.all, tc.wanted)); err != nil {
				t.Fatal(err)
			}

			golden := filepath.Join("testdata", tc.golden+".golden")
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}

			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s (-want +got); if it is right, run go test -update:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLongGroupsAreCut(t *testing.T) {
	members := strings.Split("a b c d e f g h i j k l", " ")
	long := explain.GroupReport{Index: 1, Name: "x", Clusters: members}
	if got, want := long.String(), "group 1 x: a, b, c, d, e, f, g, h, i, j, and 2 more"; got != want {
		t.Errorf("group reads %q, want %q", got, want)
	}

	if got, want := (explain.GroupReport{Clusters: members[:10]}).String(), "group 0: a, b, c, d, e, f, g, h, i, j"; got != want {
		t.Errorf("group reads %q, want %q", got, want)
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
	if err := explain.Write(&out, explain.FormatTable, explain.Reports{Placements: []explain.Report{report}}); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteReportsErrors(t *testing.T) {
	if err := explain.Write(brokenPipe{}, explain.FormatJSON, explain.Reports{}); !errors.Is(err, errBroken) {
		t.Errorf("error is %v, want that of the writer", err)
	}

	if err := explain.Write(&bytes.Buffer{}, "xml", explain.Reports{}); err == nil || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("error is %v, want one that names the format", err)
	}
}
