// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Issue 26, U8: the sentence that matters is broken between words, and never cut.
func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		reason, line string
		width        int
		want         []string
	}{
		{"it fits", "  a cause", 20, []string{"  a cause"}},
		{"no window", strings.Repeat("word ", 50), 0, []string{strings.Repeat("word ", 50)}},
		{"too narrow a window", strings.Repeat("word ", 50), 19, []string{strings.Repeat("word ", 50)}},
		{
			"between words", "  predicate 1 label region In [eu-west eu-east]: is us", 26,
			[]string{"  predicate 1 label", "    region In [eu-west", "    eu-east]: is us"},
		},
		{
			"within a word that is longer than a line", "Wähle " + strings.Repeat("é", 30), 24,
			[]string{"Wähle", "  " + strings.Repeat("é", 22), "  " + strings.Repeat("é", 8)},
		},
	} {
		if diff := cmp.Diff(tc.want, Wrap(tc.line, tc.width)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// Issue 26, U8: the last cell of a row continues below itself, also with colours.
func TestTableInAWidth(t *testing.T) {
	table := document.Table{Columns: []string{"CLUSTER", "REASON"}}
	table.Row("eu1", "score 100, rank 1 of 2")
	table.Row("a-longer-name", "taint gpu=a100:NoSelect not tolerated")
	want := "  CLUSTER        REASON\n" +
		"  eu1            score 100, rank 1 of 2\n" +
		"  a-longer-name  taint gpu=a100:NoSelect not\n" +
		"                 tolerated\n"
	var out bytes.Buffer
	Style{Width: 48}.writeTable(&out, table)

	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	out.Reset()
	table.Rows[0].Cells[1].Tone, table.Rows[1].Cells[1].Tone = document.Good, document.Bad
	Style{Width: 48, Color: true}.writeTable(&out, table)

	// The titles of both columns, the cell of one line and that of two.
	ansi := regexp.MustCompile("\x1b\\[\\d+m")
	if got := ansi.ReplaceAllString(out.String(), ""); got != want || strings.Count(out.String(), noColor) != 5 {
		t.Errorf("coloured table:\n%q", &out)
	}
	out.Reset()
	Style{Width: 44}.writeTable(&out, table)
	if diff := cmp.Diff("  CLUSTER        REASON\n  eu1            score 100, rank 1 of 2\n  a-longer-name\n"+
		"      taint gpu=a100:NoSelect not tolerated\n", out.String()); diff != "" {
		t.Errorf("little room beside the other columns (-want +got):\n%s", diff)
	}
}
