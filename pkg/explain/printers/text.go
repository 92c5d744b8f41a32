// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Style configures texts for people.
type Style struct {
	document.Options

	// Color adds terminal colours.
	Color bool
	// Width is the number of columns of the terminal, in which the last column of tables is wrapped; 0 for no limit.
	Width int
}

// write writes the sections of a document, with an empty line between two of them.
func (s Style) write(out *bytes.Buffer, d document.Document) {
	for i, section := range d.Sections {
		if i > 0 && !section.Joined {
			out.WriteByte('\n')
		}
		headline := section.Headline
		if section.Title != "" {
			headline = slices.Concat(document.Text{{Text: section.Title, Tone: document.Strong}, {Text: ": "}}, headline)
		}
		if len(headline) > 0 {
			s.writeLine(out, "", headline)
		}

		for _, block := range section.Blocks {
			s.writeBlock(out, block)
		}
		for _, note := range section.Notes {
			s.writeLine(out, "", document.Plainly(note))
		}
	}
}

func (s Style) writeBlock(out *bytes.Buffer, block document.Block) {
	switch {
	case block.Table != nil:
		s.writeTable(out, *block.Table)
	case block.Patch != "":
		out.WriteString(strings.TrimSuffix(document.Printable(block.Patch), "\n") + "\n")
	default:
		s.writeLine(out, strings.Repeat(columnGap, 1+block.Depth), block.Line)
	}
}

// writeLine writes a line. It indents the further lines of a message: CEL compilers point at positions with lines of their own.
func (s Style) writeLine(out *bytes.Buffer, indent string, line document.Text) {
	var text strings.Builder
	for _, span := range line {
		text.WriteString(s.paint(span.Tone, document.Printable(span.Text)))
	}
	out.WriteString(indent + strings.ReplaceAll(strings.TrimRight(text.String(), "\n"), "\n", "\n"+detailIndent) + "\n")
}

// writeTable writes the lines of a table, indented, with its last column in the width of the Style.
func (s Style) writeTable(out *bytes.Buffer, table document.Table) {
	indent := strings.Repeat(columnGap, 1+table.Depth)
	if table.Title != "" {
		out.WriteString(indent + document.Printable(table.Title) + ":\n")
		indent += columnGap
	}
	rows := make([]document.Text, 0, 1+len(table.Rows))

	if len(table.Columns) > 0 {
		columns := make(document.Text, 0, len(table.Columns))
		for _, column := range table.Columns {
			columns = append(columns, document.Span{Text: column, Tone: document.Strong})
		}
		rows = append(rows, columns)
	}
	for _, row := range table.Rows {
		rows = append(rows, row.Cells)
	}

	for _, line := range s.align(rows, s.Width-len(indent)) {
		out.WriteString(indent + line + "\n")
	}
}

// colors are the ANSI sequences of terminal colours.
var colors = map[document.Tone]string{
	document.Strong: "\x1b[1m", document.Good: "\x1b[32m", document.Fair: "\x1b[33m", document.Bad: "\x1b[31m",
}

// noColor ends a colour.
const noColor = "\x1b[0m"

func (s Style) paint(tone document.Tone, text string) string {
	if !s.Color || text == "" || colors[tone] == "" {
		return text
	}
	return colors[tone] + text + noColor
}
