// SPDX-License-Identifier: Apache-2.0

package document

import (
	"slices"
	"strings"
)

// Board is a table of a hub at one moment, which live displays show again and again. The rows of the table have names, the details below them, and
// what is still to happen.
type Board struct {
	// Summary counts the objects.
	Summary string
	Table   Table
	// Empty is the line of a table without rows.
	Empty string
	// Matrix says that the columns are objects, too: the line of a change names those with a value.
	Matrix bool
	// Refused are sentences about what admission has refused.
	Refused []string
	// Waiting are sentences about objects without a row that have not settled.
	Waiting []string
	// Versions changes whenever one of the objects does; empty if what the table does not show does not count.
	Versions string
}

// Pending lists what has not settled.
func (b *Board) Pending() []string {
	var pending []string
	for i := range b.Table.Rows {
		if unsettled := b.Table.Rows[i].Unsettled; unsettled != "" {
			pending = append(pending, unsettled)
		}
	}
	return append(pending, b.Waiting...)
}

// Sort sorts the rows by their names.
func (b *Board) Sort() {
	slices.SortFunc(b.Table.Rows, func(x, y Row) int { return strings.Compare(x.Name, y.Name) })
}

// Labelled returns "label: text"; the label may be empty.
func Labelled(label, text string) string {
	if label == "" {
		return text
	}
	return label + ": " + text
}
