// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"strings"
	"unicode/utf8"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

const (
	// columnGap separates two columns, and indents what belongs to a line before.
	columnGap = "  "
	// minRoom is the least width in which the last cell of a row is broken beside the others, and detailIndent precedes it below them.
	minRoom      = 30
	detailIndent = "    "
)

// Align returns one line for each row of cells, with the columns aligned and two spaces between them. It replaces control characters in the
// cells.
func Align(rows []document.Text) []string { return Style{}.align(rows, 0) }

// align aligns columns, and continues the last cell of a row below itself where the row is longer than width. If the other columns leave too
// little room for it, it is below the row. A width that is not above 0 is no limit.
func (s Style) align(rows []document.Text, width int) []string {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	lines := make([]string, 0, len(rows))

	for _, row := range rows {
		if len(row) == 0 {
			lines = append(lines, "")
			continue
		}
		var line strings.Builder
		last, start := len(row)-1, 0
		for i, cell := range row[:last] {
			line.WriteString(s.paint(cell.Tone, document.Printable(cell.Text)))
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.Text)) + columnGap)
			start += widths[i] + len(columnGap)
		}

		text := document.Printable(row[last].Text)

		indent, room := start, width-start
		if width > 0 && room < minRoom && utf8.RuneCountInString(text) > room {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
			indent, room = len(detailIndent), width-len(detailIndent)
			line.WriteString(detailIndent)
		}

		for i, part := range broken(text, room) {
			if i > 0 {
				line.WriteString(strings.Repeat(" ", indent))
			}
			line.WriteString(s.paint(row[last].Tone, part))
			lines = append(lines, line.String())
			line.Reset()
		}
	}

	return lines
}
