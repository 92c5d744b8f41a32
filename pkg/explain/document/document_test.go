// SPDX-License-Identifier: Apache-2.0

package document_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

func TestNotesAreOfTheLastSection(t *testing.T) {
	var d document.Document
	d.Note("alone")
	d.Add(document.Section{Title: "a"}, document.Section{Title: "b"})
	d.Note()
	d.Note("x", "y")
	want := []document.Section{{Notes: []string{"alone"}}, {Title: "a"}, {Title: "b", Notes: []string{"x", "y"}}}
	if diff := cmp.Diff(want, d.Sections); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

func TestDocumentsFollowEachOther(t *testing.T) {
	d := document.Document{Sections: []document.Section{{Title: "a"}}, Names: []string{"a c1"}}
	d.Append(document.Document{Sections: []document.Section{{Title: "b"}}, Names: []string{"b c2"}})
	want := document.Document{Sections: []document.Section{{Title: "a"}, {Title: "b"}}, Names: []string{"a c1", "b c2"}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestTextsDoNotShareTheirSpans(t *testing.T) {
	held := append(make(document.Text, 0, 4), document.Span{Text: "held", Tone: document.Bad})
	first, second := held.With(", a"), held.With(", b")
	if first.String() != "held, a" || second.String() != "held, b" {
		t.Errorf("texts are %q and %q", first.String(), second.String())
	}
}

// Control characters and characters that change the direction of text are replaced; letters of all scripts are kept.
func TestPrintable(t *testing.T) {
	got := document.Printable("a\x1b[31m\tb\nc safe\u202egnp.exe\u2066x\u200f \u05d0\u061c … ✓")
	if want := "a [31m b\nc safe\ufffdgnp.exe\ufffdx\ufffd \u05d0\ufffd … ✓"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Many rejected clusters are grouped by their cause, those of the most clusters first, with the first names.
func TestCauses(t *testing.T) {
	rejected := make([]document.Rejected, 0, document.RejectedListed+1)
	for i := range document.RejectedListed {
		rejected = append(rejected, document.Rejected{Name: "c" + strconv.Itoa(i), Verdict: "taints", Clause: "taint\ngpu"})
	}
	rejected = append(rejected, document.Rejected{Name: "d"})
	o := document.Options{Grouped: "--all-clusters"}
	if (document.Options{}).Groups(len(rejected)) || o.Groups(document.RejectedListed) || !o.Groups(len(rejected)) {
		t.Error("clusters are grouped from one more than the bound on, and only where a flag lists them")
	}
	var s document.Section
	s.Causes(nil, o)
	if len(s.Blocks) > 0 {
		t.Errorf("no cluster has a cause: %v", s.Blocks)
	}
	s.Causes(rejected, o)
	var got []string
	for _, row := range s.Blocks[1].Table.Rows {
		cells := make([]string, 0, len(row.Cells))
		for _, cell := range row.Cells {
			cells = append(cells, cell.Text)
		}
		got = append(got, strings.Join(cells, " | "))
	}
	if diff := cmp.Diff([]string{"30 | taints | c0, c1, c2, ... | taint gpu", "1 | - | d | -"}, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if line, want := s.Blocks[0].Line.String(), "not selected: 31 clusters, by cause (--all-clusters lists them)"; line != want {
		t.Errorf("line is %q, want %q", line, want)
	}
}

func TestLongListsOfNamesAreCut(t *testing.T) {
	names := strings.Split("a b c d e f g h i j k l", " ")
	if got, want := document.Abbreviate(names), "a, b, c, d, e, f, g, h, i, j, and 2 more"; got != want {
		t.Errorf("names are %q, want %q", got, want)
	}
	if got, want := document.Abbreviate(names[:10]), "a, b, c, d, e, f, g, h, i, j"; got != want {
		t.Errorf("names are %q, want %q", got, want)
	}
}
