// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestRulesAreNumbered(t *testing.T) {
	for i, rule := range Rules() {
		if want := fmt.Sprintf("PD%d", i+1); rule.ID != want || rule.Title == "" || rule.Level == "" {
			t.Errorf("rule %+v, want %s", rule, want)
		}
	}
}

// allPassed returns a report in which each rule has passed but for those that are given.
func allPassed(except ...Result) *Report {
	r := newReport("toy <1>")
	o := newOutcomes()
	for _, result := range r.Rules {
		r.add(o.results(result.ID))
	}
	r.add(except)
	return r
}

func TestSkippedIsNotPassed(t *testing.T) {
	for _, tc := range []struct {
		reason     string
		report     *Report
		conformant []Level
	}{
		{"nothing was run", newReport("toy"), nil},
		{"all have passed", allPassed(), []Level{Core, Extended, Strict, Consumer}},
		{
			"a skipped rule of Strict", allPassed(Result{Rule: Rules()[13], Outcome: Skipped, Reason: "no Restarter"}),
			[]Level{Core, Extended, Consumer},
		},
		{"a failed rule of Core", allPassed(Result{Rule: Rules()[1], Outcome: Failed}), []Level{Consumer}},
		{"a failed rule of consumers", allPassed(Result{Rule: Rules()[16], Outcome: Failed}), []Level{Core, Extended, Strict}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			for _, level := range []Level{Core, Extended, Strict, Consumer} {
				if got, want := tc.report.Conformant(level), slices.Contains(tc.conformant, level); got != want {
					t.Errorf("%s: conformant %t, want %t", level, got, want)
				}
			}
		})
	}
}

func TestAFindingCountsMoreThanAReasonToSkip(t *testing.T) {
	o := newOutcomes()
	o.skip("not reached", RuleQuiet, RuleRestart)
	o.addf(RuleQuiet, "wrote %d", 1)
	o.addf(RuleQuiet, "wrote %d", 1)
	results := o.results(RuleQuiet, RuleRestart)
	if len(results) != 2 || results[0].Outcome != Failed || len(results[0].Findings) != 1 || results[1].Outcome != Skipped ||
		results[1].Reason != "not reached" {
		t.Errorf("results %+v", results)
	}
}

func TestReportsAreFiles(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "new")
	report := allPassed(
		Result{Rule: Rules()[6], Outcome: Failed, Findings: []Finding{{RuleNoDuplicate, "a/b", "<twice>"}}},
		Result{Rule: Rules()[13], Outcome: Skipped, Reason: "no Restarter"})
	if err := report.WriteFiles(directory); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}

	parsed := &Report{}
	if err := yaml.UnmarshalStrict(read("report.yaml"), parsed); err != nil {
		t.Fatal(err)
	}
	var before, after bytes.Buffer
	for report, buffer := range map[*Report]*bytes.Buffer{report: &before, parsed: &after} {
		if err := report.WriteYAML(buffer); err != nil {
			t.Fatal(err)
		}
	}
	if before.String() != after.String() || parsed.Result(RuleNoDuplicate).Findings[0].Message != "<twice>" {
		t.Errorf("read back:\n%s\nwritten:\n%s", after.String(), before.String())
	}

	page := string(read("report.html"))
	for _, text := range []string{"toy &lt;1&gt;", "PD7: a/b: &lt;twice&gt;", "no Restarter", "<td>PD18</td>"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}
