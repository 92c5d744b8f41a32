// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// BoardLines returns the lines of a board: its table, with the details of each row below it, and what was refused.
func BoardLines(b *document.Board) []string {
	rows := append(make([]document.Text, 0, 1+len(b.Table.Rows)), document.NewRow(b.Table.Columns...).Cells)
	for _, row := range b.Table.Rows {
		rows = append(rows, row.Cells)
	}
	var lines []string
	for i, line := range Align(rows) {
		lines = append(lines, line)
		if i > 0 {
			for _, detail := range b.Table.Rows[i-1].Details {
				lines = append(lines, columnGap+OneLine(detail))
			}
		}
	}
	if len(b.Table.Rows) == 0 {
		lines = append(lines, b.Empty)
	}
	if len(b.Refused) > 0 {
		lines = append(lines, "", "REFUSED")
		for _, refusal := range b.Refused {
			lines = append(lines, OneLine(refusal))
		}
	}
	return lines
}

// BoardChange is the line of one object.
type BoardChange struct {
	// Title identifies the object.
	Title, Line string
	Unsettled   bool
}

// BoardChanges has a line for each object of a board, for displays that print changes.
func BoardChanges(b *document.Board) []BoardChange {
	changes := make([]BoardChange, 0, len(b.Table.Rows)+len(b.Refused))
	for i := range b.Table.Rows {
		row := &b.Table.Rows[i]
		changes = append(changes, BoardChange{Title: row.Name, Line: boardLine(b, row), Unsettled: row.Unsettled != ""})
	}
	for _, refusal := range b.Refused {
		changes = append(changes, BoardChange{Title: refusal, Line: "refused" + columnGap + OneLine(refusal)})
	}
	return changes
}

// boardLine returns a row in one line.
func boardLine(b *document.Board, row *document.Row) string {
	var parts []string
	for i, cell := range row.Cells {
		switch {
		case !b.Matrix || i == 0:
			parts = append(parts, cell.Text)
		case cell.Text != document.NoValue:
			parts = append(parts, b.Table.Columns[i]+" "+cell.Text)
		}
	}
	for _, detail := range row.Details {
		parts = append(parts, "("+OneLine(detail)+")")
	}
	return strings.Join(parts, columnGap)
}

// OneLine replaces control characters of user-provided messages, line breaks too.
func OneLine(text string) string { return strings.ReplaceAll(document.Printable(text), "\n", " ") }
