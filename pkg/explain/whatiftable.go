package explain

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WhatIfSummary counts differences. Those that come without the changes count only in Behind.
type WhatIfSummary struct {
	// Losing Placements lose Lost clusters, each counted once for each Placement. Gaining and Gained, and Moving and Moved, count alike;
	// moved clusters stay and change their decision group.
	Losing  int `json:"losing"`
	Lost    int `json:"lost"`
	Gaining int `json:"gaining"`
	Gained  int `json:"gained"`
	Moving  int `json:"moving"`
	Moved   int `json:"moved"`
	// Unsatisfied counts the Placements that would cease to be satisfied.
	Unsatisfied int `json:"unsatisfied"`
	// Later counts the Placements that do not change now, but may change later without an event, because of the changes.
	Later int `json:"later"`
	// Unchanged counts the other Placements that have a result or are skipped.
	Unchanged int `json:"unchanged"`
	// Behind counts the unchanged Placements whose existing decisions differ from the result, so that the hub is about to write them.
	Behind int `json:"behind"`
	// Stalled counts the Placements without a valid result.
	Stalled int `json:"stalled"`
}

// changeCounts counts the differences that would not come without the changes.
type changeCounts struct{ lost, gained, moved int }

func (d Difference) countChanges() changeCounts {
	var due changeCounts

	for _, loss := range d.Lost {
		due.lost += toInt(!loss.Anyway)
	}

	for _, gain := range d.Gained {
		due.gained += toInt(!gain.Anyway)
	}

	for _, move := range d.Moved {
		due.moved += toInt(!move.Anyway)
	}

	return due
}

func toInt(counts bool) int {
	if counts {
		return 1
	}

	return 0
}

// summarize counts the outcomes; unchanged is the number of Placements that were not compared.
func summarize(outcomes []outcome, unchanged int) WhatIfSummary {
	s := WhatIfSummary{Unchanged: unchanged}

	for _, o := range outcomes {
		due := o.difference.countChanges()

		switch {
		case o.difference.Stalled != "":
			s.Stalled++
		case due == changeCounts{} && o.difference.ChangesAt != nil:
			s.Later++
		case due == changeCounts{}:
			s.Unchanged++
			s.Behind += toInt(o.difference.Differs())
		default:
			s.Losing += toInt(due.lost > 0)
			s.Lost += due.lost
			s.Gaining += toInt(due.gained > 0)
			s.Gained += due.gained
			s.Moving += toInt(due.moved > 0)
			s.Moved += due.moved
			s.Unsatisfied += toInt(o.unsatisfied)
		}
	}

	return s
}

// String returns "4 placements lose 12 clusters, 2 gain 3; 14 do not change".
func (s WhatIfSummary) String() string {
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
			counts = append(counts, count(placements, "placement")+" "+verb)
		} else {
			counts = append(counts, fmt.Sprintf("%d %s", placements, verb))
		}
	}

	lost, gained, moved := count(s.Lost, "cluster"), count(s.Gained, "cluster"), count(s.Moved, "cluster")
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

// WriteWhatIf prints a WhatIf. The table lists kept clusters by name only with showKept; FormatName is that of WriteDifferences.
func WriteWhatIf(out io.Writer, format Format, whatIf WhatIf, showKept bool) error {
	var text bytes.Buffer

	differences := Differences{Now: whatIf.Now, Placements: whatIf.Placements}

	switch format {
	case FormatJSON, FormatYAML:
		if err := Marshal(&text, format, whatIf); err != nil {
			return err
		}
	case FormatTable:
		fmt.Fprintf(&text, "what if: %s\n%s\n", strings.Join(whatIf.Changes, ", "), whatIf.Summary)

		if len(whatIf.Placements) > 0 {
			text.WriteByte('\n')
		}

		if err := encodeDifferences(&text, format, differences, showKept); err != nil {
			return err
		}

		for i, held := range whatIf.Stalled {
			if i == 0 {
				text.WriteByte('\n')
			}

			fmt.Fprintf(&text, "%s: stalled; %s\n", title(held.Placement, held.API), indented(held.Reason))
		}
	default:
		if err := encodeDifferences(&text, format, differences, showKept); err != nil {
			return err
		}
	}

	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the differences: %w", err)
	}

	return nil
}
