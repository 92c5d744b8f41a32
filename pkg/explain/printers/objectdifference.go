// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// writeObjectDifferences writes what would change for objects, for people: a summary, and each object with its clusters.
func writeObjectDifferences(out *bytes.Buffer, differences []federated.Difference, summary federated.Summary, notes []string) {
	fmt.Fprintln(out, objectSummaryText(summary))

	for _, d := range differences {
		out.WriteByte('\n')
		writeObjectDifference(out, d)
	}

	for _, note := range notes {
		fmt.Fprintf(out, "%s\n", Printable(indented(note)))
	}
}

// objectSummaryText returns "withdraws 12 objects, 2 of them Deployments with 9 replicas; delivers 3 objects newly".
func objectSummaryText(s federated.Summary) string {
	var parts []string

	if s.Losing > 0 {
		text := &strings.Builder{}
		text.WriteString("withdraws " + Count(s.Losing, "object"))

		if s.Lost > s.Losing {
			fmt.Fprintf(text, " (%d copies)", s.Lost)
		}

		for _, workload := range s.Workloads {
			noun := "a " + workload.Kind
			if workload.Objects != 1 {
				noun = workload.Kind + "s"
			}

			fmt.Fprintf(text, ", %d of them %s with %s", workload.Objects, noun, Count(int(workload.Replicas), "replica"))
		}

		parts = append(parts, text.String())
	}

	if s.Gaining > 0 {
		text := "delivers " + Count(s.Gaining, "object") + " newly"
		if s.Gained > s.Gaining {
			text += fmt.Sprintf(" (%d copies)", s.Gained)
		}

		parts = append(parts, text)
	}

	if len(parts) == 0 {
		parts = append(parts, "no object is withdrawn or newly delivered")
	}

	if s.Held > 0 {
		parts = append(parts, "the withdrawal of "+Count(s.Held, "object")+" would be held")
	}

	if s.Stopped > 0 {
		parts = append(parts, Count(s.Stopped, "object")+" would be held as it is")
	}

	return strings.Join(parts, "; ")
}

func writeObjectDifference(out *bytes.Buffer, d federated.Difference) {
	name := d.Object
	if d.New {
		name += " (new)"
	}

	fmt.Fprintf(out, "%s: %s\n", name, objectDifferenceText(d))

	if d.Message != "" {
		fmt.Fprintf(out, "  %s\n", Printable(indented(d.Message)))
	}

	if d.RemovalHeld != "" {
		fmt.Fprintf(out, "  %s: %s\n", federation.ReasonRemovalHeld, Printable(d.RemovalHeld))
	}

	for _, note := range d.Notes {
		fmt.Fprintf(out, "  %s\n", Printable(indented(note)))
	}

	rows := slices.Concat(objectChangeRows(markLost, d.Lost), objectChangeRows(markHeld, d.Held), objectChangeRows(markGained, d.Gained))
	writeTable(out, rows, nil)

	if d.Kept > 0 {
		fmt.Fprintf(out, "  %s %d kept\n", markKept, d.Kept)
	}
}

func objectDifferenceText(d federated.Difference) string {
	if federation.State(d.State) != federation.Delivering {
		return strings.ToLower(d.State) + ", " + keepers(d.Kept)
	}

	text := fmt.Sprintf("%d gained, %d lost, %d kept", len(d.Gained), len(d.Lost), d.Kept)
	if len(d.Held) > 0 {
		text += fmt.Sprintf(", %d of them held", len(d.Held))
	}

	if d.Updated > 0 {
		text += fmt.Sprintf(", %d of them updated", d.Updated)
	}

	return text
}

func objectChangeRows(mark string, changes []federated.Change) [][]string {
	rows := make([][]string, 0, len(changes))

	for _, change := range changes {
		text := change.Reason
		if change.Replicas != nil {
			text += ", " + Count(int(*change.Replicas), "replica")
		}

		if change.Anyway {
			text += anyway
		}

		rows = append(rows, []string{mark + " " + change.Cluster, oneLine(text)})
	}

	return rows
}

// writeObjectDifferenceNames writes "namespace/name@kind +cluster" for each gained cluster, and with "-" for each lost one.
func writeObjectDifferenceNames(out *bytes.Buffer, differences []federated.Difference) {
	for _, d := range differences {
		line := func(mark string, changes []federated.Change) {
			for _, change := range changes {
				fmt.Fprintf(out, "%s %s%s\n", qualifiedObject(d.Namespace, d.Name, d.Kind, d.Group), mark, change.Cluster)
			}
		}

		line(markGained, d.Gained)
		line(markLost, d.Lost)
	}
}
