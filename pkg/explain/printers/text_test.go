// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// result is a result with a Document.
type result struct {
	Selected []string `json:"selected"`

	document document.Document
}

func (r result) Document(document.Options) document.Document { return r.document }

// hostile is a text of a user that drives a terminal and breaks lines.
const hostile = "a\x1b[2J\nb"

func example() result {
	first := document.Section{Title: "team/p", Headline: document.Alarm("held", ", as "+hostile)}
	first.Linef("reason: %s\n", hostile)
	first.Detailf("more")
	table := document.Table{Title: "taints", Columns: []string{"TAINT", "DETAIL"}}
	table.Row("gpu", "not tolerated")
	first.Table(table)
	first.Table(document.Table{Title: "empty"})
	first.Blocks = append(first.Blocks, document.Block{Patch: "-a\n+b"})
	deep := document.Table{Depth: 1}
	deep.Row("fit", "n1")
	second := document.Section{Headline: document.Plainly("a summary"), Joined: true}
	second.Table(deep)
	d := document.Document{Sections: []document.Section{first, second, {Title: "team/q", Headline: document.Plainly("none selected")}}}
	d.Note(hostile)
	d.Namef("team/p eu1")
	return result{Selected: []string{"<eu1>"}, document: d}
}

func TestPrint(t *testing.T) {
	for format, want := range map[Format]string{
		FormatTable: `team/p: held, as a [2J
    b
  reason: a [2J
    b
    more
  taints:
    TAINT  DETAIL
    gpu    not tolerated
-a
+b
a summary
    fit  n1

team/q: none selected
a [2J
    b
`,
		FormatName: "team/p eu1\n",
		FormatJSON: "{\n  \"selected\": [\n    \"<eu1>\"\n  ]\n}\n",
		FormatYAML: "selected:\n- <eu1>\n",
	} {
		var out bytes.Buffer
		if err := Print(&out, format, example(), Style{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

func TestColours(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out, FormatWide, example(), Style{Color: true}); err != nil {
		t.Fatal(err)
	}
	want := colors[document.Strong] + "team/p" + noColor + ": " + colors[document.Bad] + "held" + noColor + ", as a [2J"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%q does not begin with %q", &out, want)
	}
}

// brokenPipe refuses all that is written.
type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestPrintErrors(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out, "xml", example(), Style{}); err == nil || !strings.Contains(err.Error(), `"xml"`) || out.Len() > 0 {
		t.Errorf("an unknown format: %v, and %q was written", err, &out)
	}
	if err := Print(brokenPipe{}, FormatTable, example(), Style{}); !errors.Is(err, errBroken) {
		t.Errorf("a broken pipe: %v", err)
	}
}
