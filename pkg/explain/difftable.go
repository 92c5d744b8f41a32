package explain

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The marks of the lines of a comparison.
const (
	markGained = "+"
	markLost   = "-"
	markMoved  = "~"
	markKept   = "="
)

// WriteDifferences prints a comparison. The table lists kept clusters by name only with showKept. FormatName prints "namespace/name
// +cluster" for every gained cluster, with "-" for every lost and "~" for every moved one, and no kept clusters.
func WriteDifferences(out io.Writer, format Format, differences Differences, showKept bool) error {
	var text bytes.Buffer

	if err := encodeDifferences(&text, format, differences, showKept); err != nil {
		return err
	}

	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the differences: %w", err)
	}

	return nil
}

func encodeDifferences(text *bytes.Buffer, format Format, differences Differences, showKept bool) error {
	switch format {
	case FormatJSON, FormatYAML:
		return Marshal(text, format, differences)
	case FormatName:
		for _, difference := range differences.Placements {
			difference.names(text)
		}
	case FormatTable:
		for i, difference := range differences.Placements {
			if i > 0 {
				text.WriteByte('\n')
			}

			if err := difference.table(text, showKept); err != nil {
				return fmt.Errorf("table of Placement %s: %w", title(difference.Placement, difference.API), err)
			}
		}
	default:
		return fmt.Errorf("unknown format %q; use one of %v", format, Formats())
	}

	return nil
}

func (d Difference) names(out *bytes.Buffer) {
	line := func(mark, cluster string) {
		fmt.Fprintf(out, "%s %s%s\n", qualifiedName(d.Placement, d.API), mark, cluster)
	}

	for _, gain := range d.Gained {
		line(markGained, gain.Cluster)
	}

	for _, loss := range d.Lost {
		line(markLost, loss.Cluster)
	}

	for _, move := range d.Moved {
		line(markMoved, move.Cluster)
	}
}

// table writes a comparison for people: a summary, the notes, and one line for each cluster that changes.
func (d Difference) table(out *bytes.Buffer, showKept bool) error {
	name := title(d.Placement, d.API)
	if d.New {
		name += " (new)"
	}

	fmt.Fprintf(out, "%s: %s\n", name, d.summary())

	for _, note := range d.Notes {
		fmt.Fprintf(out, "  %s\n", indented(note))
	}

	if d.ChangesAt != nil {
		fmt.Fprintf(out, "  may change by itself at %s\n", d.ChangesAt.UTC().Format(time.RFC3339))
	}

	if d.Stalled != "" {
		fmt.Fprintf(out, "  %s\n", indented(d.Stalled))
	}

	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := columns.Write([]byte(d.lines(showKept))); err != nil {
		return fmt.Errorf("laying out: %w", err)
	}

	if err := columns.Flush(); err != nil {
		return fmt.Errorf("laying out: %w", err)
	}

	return nil
}

func (d Difference) summary() string {
	counts := fmt.Sprintf("%d gained, %d lost, %d kept", len(d.Gained), len(d.Lost), len(d.Kept))
	if len(d.Moved) > 0 {
		counts += fmt.Sprintf(", %d of them in another group", len(d.Moved))
	}

	if !d.Differs() {
		counts = fmt.Sprintf("no difference, %d kept", len(d.Kept))
	}

	switch {
	case d.Stalled != "":
		return "no answer; if this were applied, " + d.keptText()
	case d.Skipped != "":
		return "no difference, as " + d.Skipped + "; " + d.keptText()
	case d.Wanted != nil:
		return fmt.Sprintf("%s; %d of %d wanted", counts, d.Selected, *d.Wanted)
	default:
		return counts
	}
}

// keptText describes the decisions of a Placement that gets no new ones.
func (d Difference) keptText() string {
	if len(d.Kept) == 0 {
		return "it would have no decisions"
	}

	return "it would keep the " + count(len(d.Kept), "cluster") + " of its last decisions"
}

// lines returns the rows of the table, with tabs between the cells.
func (d Difference) lines(showKept bool) string {
	var lines strings.Builder

	row := func(mark, cluster, text string, anyway bool) {
		if anyway {
			text += " (due anyway)"
		}

		fmt.Fprintf(&lines, "  %s %s\t%s\n", mark, cluster, oneLine(text))
	}

	for _, gain := range d.Gained {
		text := gain.Reason
		if gain.Group != (DecisionGroup{}) {
			text += ", " + gain.Group.String()
		}

		row(markGained, gain.Cluster, text, gain.Anyway)
	}

	for _, loss := range d.Lost {
		row(markLost, loss.Cluster, loss.Reason, loss.Anyway)
	}

	for _, move := range d.Moved {
		row(markMoved, move.Cluster, move.From.String()+" -> "+move.To.String(), move.Anyway)
	}

	switch {
	case len(d.Kept) == 0 || d.Stalled != "" || d.Skipped != "":
	case !showKept:
		fmt.Fprintf(&lines, "  %s %d kept\n", markKept, len(d.Kept))
	default:
		for _, cluster := range d.Kept {
			fmt.Fprintf(&lines, "  %s %s\n", markKept, cluster)
		}
	}

	return lines.String()
}

// String returns "group 0 canary", or "group 1" for a group without a name.
func (g DecisionGroup) String() string {
	text := "group " + strconv.Itoa(int(g.Index))
	if g.Name != "" {
		text += " " + g.Name
	}

	return text
}
