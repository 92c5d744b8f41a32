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
	// membersShown bounds the clusters of one decision group in a line.
	membersShown = 10
)

// writeTable writes the lines of Align, indented.
func writeTable(out *bytes.Buffer, rows [][]string, dress func(row, column int, text string) string) {
	for _, line := range Align(rows, dress) {
		out.WriteString(columnGap + line + "\n")
	}
}

// Align returns one line for each row of cells, with the columns aligned and two spaces between them. It replaces control characters in the
// cells, in place; dress, unless it is nil, may add text without width, such as colours, to a cell.
func Align(rows [][]string, dress func(row, column int, text string) string) []string {
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

		for i, text := range row {
			padding := widths[i] - utf8.RuneCountInString(text)
			if dress != nil {
				text = dress(at, i, text)
			}

			line.WriteString(text)

			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", padding) + columnGap)
			}
		}

		lines = append(lines, line.String())
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
