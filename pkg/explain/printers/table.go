// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// noValue is the text of an empty cell.
	noValue = "-"
	// columnGap separates two columns.
	columnGap = "  "
	// minRoom is the least width in which the last cell of a row is broken beside the others, and detailIndent precedes it below them.
	minRoom      = 30
	detailIndent = "    "
	// membersShown bounds the clusters of one decision group in a line.
	membersShown = 10
)

// writeTable writes the lines of Align, indented.
func writeTable(out *bytes.Buffer, rows [][]string, dress func(row, column int, text string) string) {
	Style{}.writeTable(out, rows, dress)
}

// Style configures tables for people.
type Style struct {
	// Scores adds the ranks and the scores of every prioritizer to the table of the clusters.
	Scores bool
	// Wide adds the existing decision and the decision group of each cluster.
	Wide bool
	// Color adds terminal colours.
	Color bool
	// All is the flag that lists the clusters out of scope, for a hint.
	All string
	// Grouped is the flag that lists all clusters, for a hint: a table with many rejected clusters groups them by their cause. Empty lists them.
	Grouped string
	// Width is the number of columns of the terminal, in which the last column of tables is wrapped; 0 for no limit.
	Width int
}

// writeTable writes the lines of a table, indented, with its last column in the width of the Style.
func (s Style) writeTable(out *bytes.Buffer, rows [][]string, dress func(row, column int, text string) string) {
	for _, line := range alignIn(rows, dress, s.Width-len(columnGap)) {
		out.WriteString(columnGap + line + "\n")
	}
}

// Align returns one line for each row of cells, with the columns aligned and two spaces between them. It replaces control characters in the
// cells, in place; dress, unless it is nil, may add text without width, such as colours, to a cell.
func Align(rows [][]string, dress func(row, column int, text string) string) []string {
	return alignIn(rows, dress, 0)
}

// alignIn aligns columns, and continues the last cell of a row below itself where the row is longer than width. If the other columns leave too
// little room for it, it is below the row. A width that is not above 0 is no limit.
func alignIn(rows [][]string, dress func(row, column int, text string) string, width int) []string {
	widths := map[int]int{}

	for _, row := range rows {
		for i := range row {
			row[i] = Printable(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}

	lines := make([]string, 0, len(rows))

	for at, row := range rows {
		var line strings.Builder

		dressed := func(column int, text string) string {
			if dress == nil {
				return text
			}

			return dress(at, column, text)
		}

		last, start := len(row)-1, 0

		for i, text := range row[:max(last, 0)] {
			line.WriteString(dressed(i, text) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)) + columnGap)
			start += widths[i] + len(columnGap)
		}

		if last < 0 {
			lines = append(lines, "")

			continue
		}

		indent, room := start, width-start
		if width > 0 && room < minRoom && utf8.RuneCountInString(row[last]) > room {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()

			indent, room = len(detailIndent), width-len(detailIndent)
			line.WriteString(detailIndent)
		}

		for i, part := range broken(row[last], room) {
			if i > 0 {
				line.WriteString(strings.Repeat(" ", indent))
			}

			line.WriteString(dressed(last, part))
			lines = append(lines, line.String())
			line.Reset()
		}
	}

	return lines
}

// Printable replaces control characters of user-provided text, which could drive a terminal, by spaces; line breaks stay.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}

		return r
	}, text)
}

// oneLine replaces line breaks and tabs, which would break the layout of a cell.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// indented indents the further lines of a message: CEL compilers point at positions with lines of their own.
func indented(message string) string {
	return strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n    ")
}

// Count returns "1 cluster" or "2 clusters".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return strconv.Itoa(n) + " " + noun + "s"
}

// abbreviate returns the first names, and the number of the others.
func abbreviate(members []string) string {
	if len(members) <= membersShown {
		return strings.Join(members, ", ")
	}

	return fmt.Sprintf("%s, and %d more", strings.Join(members[:membersShown], ", "), len(members)-membersShown)
}

// Title returns the name of a Placement, with its API in parentheses if that is not empty.
func Title(placement, api string) string {
	if api == "" {
		return placement
	}

	return placement + " (" + api + ")"
}

// QualifiedName returns "team-a/p", and for an API other than v1beta1 "team-a/p@placement.open-cluster-management.io".
func QualifiedName(placement, api string) string {
	if api == "" {
		return placement
	}

	return placement + "@" + api
}

// The ANSI sequences of terminal colours.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	strong = "\x1b[1m"
	plain  = "\x1b[0m"
)

func (s Style) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}

	return color + text + plain
}

func (s Style) bold(text string) string { return s.paint(strong, text) }

func (s Style) alarm(text string) string { return s.paint(red, text) }

// verdict colours a text by a verdict: green for selected, yellow for feasible, red for rejected.
func (s Style) verdict(verdict, text string) string {
	switch verdict {
	case scheduling.StageSelected.String():
		return s.paint(green, text)
	case scheduling.StageRank.String():
		return s.paint(yellow, text)
	case scheduling.StageScope.String():
		return text
	default:
		return s.paint(red, text)
	}
}

// header dresses a table whose first row are the titles of the columns.
func (s Style) header(row, _ int, text string) string {
	if row == 0 {
		return s.bold(text)
	}

	return text
}
