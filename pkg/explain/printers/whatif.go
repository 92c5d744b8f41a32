// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// WhatIf prints a WhatIf. The table lists kept clusters by name only with showKept; FormatName is that of Differences.
func WhatIf(out io.Writer, format Format, whatIf explain.WhatIf, showKept bool) error {
	return renderer{
		table: func(text *bytes.Buffer) { writeWhatIf(text, whatIf, showKept) },
		names: func(text *bytes.Buffer) {
			writeDifferenceNames(text, whatIf.Placements)
			writeObjectDifferenceNames(text, whatIf.Objects)
			writeNodeNames(text, whatIf.Workloads)

			if whatIf.Pods != nil {
				writePodDifferenceNames(text, whatIf.Pods)
			}

			writeRequestDifferenceNames(text, whatIf.Requests)
		},
	}.write(out, format, Formats(), whatIf)
}

func writeWhatIf(out *bytes.Buffer, whatIf explain.WhatIf, showKept bool) {
	fmt.Fprintf(out, "what if: %s\n", strings.Join(whatIf.Changes, ", "))

	// Without Placements the result does not mention them.
	if whatIf.Pods == nil && whatIf.Requests == nil || whatIf.Summary != (explain.WhatIfSummary{}) {
		fmt.Fprintln(out, summaryText(whatIf.Summary))
	}

	if len(whatIf.Placements) > 0 {
		out.WriteByte('\n')
	}

	writeDifferences(out, whatIf.Placements, showKept)

	for i, stalled := range whatIf.Stalled {
		if i == 0 {
			out.WriteByte('\n')
		}

		fmt.Fprintf(out, "%s: stalled; %s\n", Title(stalled.Placement, stalled.API), indented(stalled.Reason))
	}

	if whatIf.ObjectSummary != nil {
		out.WriteByte('\n')
		writeObjectDifferences(out, whatIf.Objects, *whatIf.ObjectSummary, whatIf.ObjectNotes)
	}

	if len(whatIf.Workloads) > 0 {
		out.WriteByte('\n')
		writeWorkloads(out, whatIf.Workloads, nil, Style{})
	}

	if whatIf.Pods != nil {
		out.WriteByte('\n')
		writePodDifferences(out, whatIf.Pods)
	}

	if whatIf.Requests != nil {
		out.WriteByte('\n')
		writeRequestDifference(out, whatIf.Requests)
	}
}

// summaryText returns "4 placements lose 12 clusters, 2 gain 3; 14 do not change".
func summaryText(s explain.WhatIfSummary) string {
	var counts []string

	// Only the first count names the noun.
	add := func(placements int, singular, plural string) {
		if placements == 0 {
			return
		}

		verb := plural
		if placements == 1 {
			verb = singular
		}

		if len(counts) == 0 {
			counts = append(counts, Count(placements, "placement")+" "+verb)
		} else {
			counts = append(counts, fmt.Sprintf("%d %s", placements, verb))
		}
	}

	lost, gained, moved := Count(s.Lost, "cluster"), Count(s.Gained, "cluster"), Count(s.Moved, "cluster")
	if s.Losing > 0 {
		gained = strconv.Itoa(s.Gained)
	}

	add(s.Losing, "loses "+lost, "lose "+lost)
	add(s.Gaining, "gains "+gained, "gain "+gained)
	add(s.Moving, "moves "+moved+" to another group", "move "+moved+" to another group")

	if len(counts) == 0 {
		counts = append(counts, "no placement gains or loses a cluster")
	}

	text := strings.Join(counts, ", ")
	more := func(placements int, singular, plural string) {
		switch placements {
		case 0:
		case 1:
			text += "; 1 " + singular
		default:
			text += fmt.Sprintf("; %d %s", placements, plural)
		}
	}

	more(s.Unsatisfied, "is satisfied no more", "are satisfied no more")
	more(s.Later, "may change later", "may change later")
	more(s.Unchanged, "does not change", "do not change")

	if s.Behind > 0 {
		text += fmt.Sprintf(" but for what is due anyway (%d)", s.Behind)
	}

	more(s.Stalled, "is stalled and keeps its last decisions", "are stalled and keep their last decisions")

	return text
}
