// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// The marks of the lines of a comparison.
const (
	markGained = "+"
	markLost   = "-"
	markMoved  = "~"
	markKept   = "="
	// markHeld marks clusters that keep what they would lose if it were not held.
	markHeld = "!"
)

// Differences prints a comparison. The table lists kept clusters by name only with showKept. FormatName prints "namespace/name +cluster" for
// every gained cluster, with "-" for every lost and "~" for every moved one, and no kept clusters.
func Differences(out io.Writer, format Format, differences explain.Differences, showKept bool) error {
	return renderer{
		table: func(text *bytes.Buffer) {
			writeDifferences(text, differences.Placements, showKept)

			if differences.ObjectSummary != nil {
				if len(differences.Placements) > 0 {
					text.WriteByte('\n')
				}

				writeObjectDifferences(text, differences.Objects, *differences.ObjectSummary, differences.ObjectNotes)
			}

			if differences.Pods != nil {
				if len(differences.Placements) > 0 || differences.ObjectSummary != nil {
					text.WriteByte('\n')
				}

				writePodDifferences(text, differences.Pods)
			}

			if differences.Requests != nil {
				if text.Len() > 0 {
					text.WriteByte('\n')
				}

				writeRequestDifference(text, differences.Requests)
			}
		},
		names: func(text *bytes.Buffer) {
			writeDifferenceNames(text, differences.Placements)
			writeObjectDifferenceNames(text, differences.Objects)

			if differences.Pods != nil {
				writePodDifferenceNames(text, differences.Pods)
			}

			writeRequestDifferenceNames(text, differences.Requests)
		},
	}.write(out, format, Formats(), differences)
}

func writeDifferences(out *bytes.Buffer, differences []explain.Difference, showKept bool) {
	for i, difference := range differences {
		if i > 0 {
			out.WriteByte('\n')
		}

		writeDifference(out, difference, showKept)
	}
}

func writeDifferenceNames(out *bytes.Buffer, differences []explain.Difference) {
	for _, d := range differences {
		line := func(mark, cluster string) {
			fmt.Fprintf(out, "%s %s%s\n", QualifiedName(d.Placement, d.API), mark, cluster)
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
}

// writeDifference writes a comparison for people: a summary, the notes, and one line for each cluster that changes.
func writeDifference(out *bytes.Buffer, d explain.Difference, showKept bool) {
	name := Title(d.Placement, d.API)
	if d.New {
		name += " (new)"
	}

	fmt.Fprintf(out, "%s: %s\n", name, differenceSummary(d))

	for _, note := range d.Notes {
		fmt.Fprintf(out, "  %s\n", indented(note))
	}

	if d.ChangesAt != nil {
		fmt.Fprintf(out, "  may change by itself at %s\n", d.ChangesAt.UTC().Format(time.RFC3339))
	}

	if d.Stalled != "" {
		fmt.Fprintf(out, "  %s\n", indented(d.Stalled))
	}

	writeTable(out, differenceRows(d), nil)

	switch {
	case len(d.Kept) == 0 || d.Stalled != "" || d.Skipped != "":
	case !showKept:
		fmt.Fprintf(out, "  %s %d kept\n", markKept, len(d.Kept))
	default:
		for _, cluster := range d.Kept {
			fmt.Fprintf(out, "  %s %s\n", markKept, cluster)
		}
	}
}

func differenceSummary(d explain.Difference) string {
	counts := fmt.Sprintf("%d gained, %d lost, %d kept", len(d.Gained), len(d.Lost), len(d.Kept))
	if len(d.Moved) > 0 {
		counts += fmt.Sprintf(", %d of them in another group", len(d.Moved))
	}

	if !d.Differs() {
		counts = fmt.Sprintf("no difference, %d kept", len(d.Kept))
	}

	switch {
	case d.Stalled != "" && d.Differs():
		return "clusters that would leave stay; " + counts
	case d.Stalled != "":
		return "no answer; if this were applied, " + keptText(d)
	case d.Skipped != "":
		return "no difference, as " + d.Skipped + "; " + keptText(d)
	case d.Wanted != nil:
		return fmt.Sprintf("%s; %d of %d wanted", counts, d.Selected, *d.Wanted)
	default:
		return counts
	}
}

// keptText describes the decisions of a Placement that gets no new ones.
func keptText(d explain.Difference) string {
	if len(d.Kept) == 0 {
		return "it would have no decisions"
	}

	return "it would keep the " + Count(len(d.Kept), "cluster") + " of its last decisions"
}

// differenceRows returns one row for each gained, lost and moved cluster.
func differenceRows(d explain.Difference) [][]string {
	var rows [][]string

	add := func(mark, cluster, text string, isAnyway bool) {
		if isAnyway {
			text += anyway
		}

		rows = append(rows, []string{mark + " " + cluster, oneLine(text)})
	}

	for _, gain := range d.Gained {
		text := gain.Reason
		if gain.Group != (explain.DecisionGroup{}) {
			text += ", " + groupName(gain.Group.Index, gain.Group.Name)
		}

		add(markGained, gain.Cluster, text, gain.Anyway)
	}

	for _, loss := range d.Lost {
		add(markLost, loss.Cluster, loss.Reason, loss.Anyway)
	}

	for _, move := range d.Moved {
		add(markMoved, move.Cluster, groupName(move.From.Index, move.From.Name)+" -> "+groupName(move.To.Index, move.To.Name), move.Anyway)
	}

	return rows
}
