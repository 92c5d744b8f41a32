package printers

import "github.com/placement-hub/placement-hub/pkg/scheduling"

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
