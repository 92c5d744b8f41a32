// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Unsatisfied prints the list. FormatName prints the names of the Placements, and FormatWide is FormatTable.
func Unsatisfied(out io.Writer, format Format, list explain.Unsatisfied, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) { writeUnsatisfied(text, list, style) },
		names: func(text *bytes.Buffer) {
			for _, placement := range list.Placements {
				fmt.Fprintln(text, QualifiedName(placement.Placement, placement.API))
			}
		},
	}.write(out, format, WideFormats(), list)
}

func writeUnsatisfied(out *bytes.Buffer, u explain.Unsatisfied, style Style) {
	switch {
	case u.Evaluated == 0 && u.Namespace != "":
		fmt.Fprintf(out, "no placements in namespace %s; --all-namespaces lists those of all\n", u.Namespace)

		return
	case u.Evaluated == 0:
		fmt.Fprintln(out, "no placements")

		return
	case len(u.Placements) == 0:
		fmt.Fprintf(out, "all of %s satisfied\n", Count(u.Evaluated, "placement"))

		return
	}

	fmt.Fprintf(out, "%d of %s unsatisfied\n", len(u.Placements), Count(u.Evaluated, "placement"))

	rows := [][]string{{"NAMESPACE/NAME", "SELECTED", "STATUS", "CLUSTERS", "MAIN CAUSE"}}

	for _, placement := range u.Placements {
		selected, wanted, clusters, cause := strconv.Itoa(placement.Selected), "all", noValue, placement.Message
		if placement.Uncounted {
			selected = "?"
		}

		if placement.Wanted != nil {
			wanted = strconv.Itoa(int(*placement.Wanted))
		}

		if placement.Cause != nil {
			clusters, cause = strconv.Itoa(placement.Cause.Clusters), placement.Cause.Clause
		}

		rows = append(rows, []string{
			QualifiedName(placement.Placement, placement.API), selected + "/" + wanted, placement.Reason, clusters, oneLine(cause),
		})
	}

	style.writeTable(out, rows, func(row, column int, text string) string {
		if row > 0 && column == 2 && u.Placements[row-1].Stalled {
			return style.alarm(text)
		}

		return style.header(row, column, text)
	})
}
