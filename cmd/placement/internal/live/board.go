// SPDX-License-Identifier: Apache-2.0

package live

import (
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// board is a table of a hub at one moment. The rows of the table have names, the details below them, and what is still to happen.
type board struct {
	// summary counts the objects.
	summary string
	table   document.Table
	// empty is the line of a table without rows.
	empty string
	// matrix says that the columns are objects, too: the line of a change names those with a value.
	matrix bool
	// refused are sentences about what admission has refused.
	refused []string
	// waiting are sentences about objects without a row that have not settled.
	waiting []string
	// versions changes whenever one of the objects does; empty if what the table does not show does not count.
	versions string
}

// change is the line of one object.
type change struct {
	title, line string
	unsettled   bool
}

// body returns the lines of the table, with the details of each row below it.
func (b *board) body() []string {
	rows := append(make([]document.Text, 0, 1+len(b.table.Rows)), document.NewRow(b.table.Columns...).Cells)
	for _, row := range b.table.Rows {
		rows = append(rows, row.Cells)
	}
	var lines []string
	for i, line := range printers.Align(rows) {
		lines = append(lines, line)
		if i > 0 {
			for _, detail := range b.table.Rows[i-1].Details {
				lines = append(lines, columnGap+oneLine(detail))
			}
		}
	}
	if len(b.table.Rows) == 0 {
		lines = append(lines, b.empty)
	}
	if len(b.refused) > 0 {
		lines = append(lines, "", "REFUSED")
		for _, refusal := range b.refused {
			lines = append(lines, oneLine(refusal))
		}
	}
	return lines
}

// changes has a line for each object, for displays that print changes.
func (b *board) changes() []change {
	changes := make([]change, 0, len(b.table.Rows)+len(b.refused))
	for i := range b.table.Rows {
		row := &b.table.Rows[i]
		changes = append(changes, change{title: row.Name, line: b.line(row), unsettled: row.Unsettled != ""})
	}
	for _, refusal := range b.refused {
		changes = append(changes, change{title: refusal, line: "refused" + columnGap + oneLine(refusal)})
	}
	return changes
}

// line returns a row in one line.
func (b *board) line(row *document.Row) string {
	var parts []string
	for i, cell := range row.Cells {
		switch {
		case !b.matrix || i == 0:
			parts = append(parts, cell.Text)
		case cell.Text != document.NoValue:
			parts = append(parts, b.table.Columns[i]+" "+cell.Text)
		}
	}
	for _, detail := range row.Details {
		parts = append(parts, "("+oneLine(detail)+")")
	}
	return strings.Join(parts, columnGap)
}

// pending lists what has not settled.
func (b *board) pending() []string {
	var pending []string
	for i := range b.table.Rows {
		if unsettled := b.table.Rows[i].Unsettled; unsettled != "" {
			pending = append(pending, unsettled)
		}
	}
	return append(pending, b.waiting...)
}

// version changes whenever one of the objects does.
func (b *board) version() string {
	if b.versions != "" {
		return b.versions
	}
	return strings.Join(b.body(), "\n")
}

// sort sorts the rows by their names.
func (b *board) sort() {
	slices.SortFunc(b.table.Rows, func(x, y document.Row) int { return strings.Compare(x.Name, y.Name) })
}

// labelled returns "label: text" in one line; the label may be empty.
func labelled(label, text string) string {
	if label != "" {
		text = label + ": " + text
	}
	return oneLine(text)
}
