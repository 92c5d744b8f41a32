package explain

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// noValue is the text of an empty cell.
const noValue = "-"

// clusterTable writes the table of the clusters.
func (r Report) clusterTable(out *bytes.Buffer, style Style) {
	if len(r.Clusters) == 0 {
		return
	}

	places := map[string]string{}

	for _, group := range r.Groups {
		for _, cluster := range group.Clusters {
			places[cluster] = strings.TrimSpace(strconv.Itoa(int(group.Index)) + " " + group.Name)
		}
	}

	rows := make([][]string, 0, len(r.Clusters)+1)
	rows = append(rows, r.columns(style))

	for _, cluster := range r.Clusters {
		rows = append(rows, r.cells(cluster, places, style))
	}

	Grid(out, rows, func(row, column int, text string) string {
		switch {
		case row == 0:
			return style.Bold(text)
		case column == 1:
			return style.Verdict(r.Clusters[row-1].Verdict, text)
		default:
			return text
		}
	})
}

func (r Report) columns(style Style) []string {
	columns := []string{"CLUSTER", "VERDICT"}

	if style.Scores {
		columns = append(columns, "RANK")
	}

	columns = append(columns, "SCORE")

	if style.Scores {
		for _, prioritizer := range r.Prioritizers {
			columns = append(columns, fmt.Sprintf("%s x%d", strings.ToUpper(prioritizer.Name), prioritizer.Weight))
		}
	}

	if style.Wide {
		columns = append(columns, "DECIDED", "GROUP")
	}

	return append(columns, "REASON")
}

func (r Report) cells(cluster ClusterReport, places map[string]string, style Style) []string {
	score, rank := noValue, noValue
	if cluster.Score != nil {
		score, rank = strconv.FormatInt(*cluster.Score, 10), strconv.Itoa(cluster.Rank)
	}

	cells := []string{cluster.Name, cluster.Verdict}

	if style.Scores {
		cells = append(cells, rank)
	}

	cells = append(cells, score)

	if style.Scores {
		for _, prioritizer := range r.Prioritizers {
			if given, feasible := cluster.Scores[prioritizer.Name]; feasible {
				cells = append(cells, strconv.FormatInt(given, 10))
			} else {
				cells = append(cells, noValue)
			}
		}
	}

	if style.Wide {
		decided, place := "no", noValue
		if cluster.Decided {
			decided = "yes"
		}

		if in, has := places[cluster.Name]; has {
			place = in
		}

		cells = append(cells, decided, place)
	}

	return append(cells, oneLine(cluster.Reason))
}

// Grid writes rows of cells in aligned columns, with two spaces between the columns and before the first. It replaces control characters in
// the cells, in place; dress may add text without width, such as colours, to a cell.
func Grid(out *bytes.Buffer, rows [][]string, dress func(row, column int, text string) string) {
	widths := map[int]int{}

	for _, row := range rows {
		for i := range row {
			row[i] = Printable(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}

	for at, row := range rows {
		for i, text := range row {
			out.WriteString("  " + dress(at, i, text))

			if i < len(row)-1 {
				out.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)))
			}
		}

		out.WriteByte('\n')
	}
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

// Bold returns a text in bold if the style has colours.
func (s Style) Bold(text string) string { return s.paint(strong, text) }

func (s Style) alarm(text string) string { return s.paint(red, text) }

// Verdict colours a text by a verdict: green for selected, yellow for feasible, red for rejected.
func (s Style) Verdict(verdict, text string) string {
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
