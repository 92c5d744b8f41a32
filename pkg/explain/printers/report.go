package printers

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// causesShown bounds the rejection causes of one Placement.
const causesShown = 5

// Reports prints Reports. FormatName prints the selected clusters, best first.
func Reports(out io.Writer, format Format, reports explain.Reports) error {
	return renderer{
		table: func(text *bytes.Buffer) {
			for i, report := range reports.Placements {
				if i > 0 {
					text.WriteByte('\n')
				}

				writeReport(text, report, Style{All: "--all"})
			}
		},
		names: func(text *bytes.Buffer) {
			for _, report := range reports.Placements {
				for _, cluster := range report.Selected {
					fmt.Fprintf(text, "%s %s\n", QualifiedName(report.Placement, report.API), cluster)
				}
			}
		},
	}.write(out, format, Formats(), reports)
}

// writeReport writes a Report for people: its head, and a table of the clusters.
func writeReport(out *bytes.Buffer, r explain.Report, style Style) {
	writeHead(out, r, style)
	writeClusters(out, r, style)

	if r.OutOfScope > 0 && !listsOutOfScope(r) {
		fmt.Fprintf(out, "  out of scope: %s, %s (%s lists them)\n", Count(r.OutOfScope, "cluster"), r.OutOfScopeReason, style.All)
	}
}

// writeHead writes the headline, notable conditions, notes and warnings, without the clusters.
func writeHead(out *bytes.Buffer, r explain.Report, style Style) {
	fmt.Fprintf(out, "%s: %s\n", style.bold(Title(r.Placement, r.API)), headline(r))

	for _, condition := range r.Conditions {
		if explain.IsNotable(condition) {
			fmt.Fprintf(out, "  %s=%s (%s): %s\n", style.alarm(condition.Type), condition.Status, condition.Reason,
				Printable(indented(condition.Message)))
		}
	}

	if style.Scores {
		writeCauses(out, r)
	}

	for _, note := range r.Notes {
		fmt.Fprintf(out, "  %s\n", Printable(indented(note)))
	}

	for i, warning := range r.Warnings {
		if i == explain.MaxWarnings {
			fmt.Fprintf(out, "  warnings not shown: %d\n", len(r.Warnings)-explain.MaxWarnings)

			break
		}

		fmt.Fprintf(out, "  warning: %s\n", warning)
	}

	if r.ChangesAt != nil {
		fmt.Fprintf(out, "  may change by itself at %s\n", r.ChangesAt.UTC().Format(time.RFC3339))
	}

	if len(r.Groups) > 1 {
		for _, group := range r.Groups {
			fmt.Fprintf(out, "  %s\n", groupText(group))
		}
	}
}

// writeCauses writes the rejection causes, unless a condition has them, and the decisions that are still to be written.
func writeCauses(out *bytes.Buffer, r explain.Report) {
	causes := r.Causes
	if len(causes) > 0 && slices.ContainsFunc(r.Conditions, func(condition metav1.Condition) bool {
		return strings.Contains(condition.Message, causes[0].Clause)
	}) {
		causes = nil
	}

	for i, cause := range causes {
		if i == causesShown {
			fmt.Fprintf(out, "  causes not shown: %d\n", len(causes)-causesShown)

			break
		}

		fmt.Fprintf(out, "  %s: %s\n", Count(cause.Clusters, "cluster"), Printable(oneLine(cause.Clause)))
	}

	if r.Behind != nil {
		fmt.Fprintf(out, "  decisions are behind: %s\n", behindText(*r.Behind))
	}
}

// behindText returns "eu1 to be gained; us1, us2 to be lost".
func behindText(b explain.BehindReport) string {
	var parts []string

	for _, part := range []struct {
		clusters []string
		what     string
	}{{b.Gained, "to be gained"}, {b.Lost, "to be lost"}, {b.Moved, "to change the decision group"}} {
		if len(part.clusters) > 0 {
			parts = append(parts, abbreviate(part.clusters)+" "+part.what)
		}
	}

	return strings.Join(parts, "; ")
}

func headline(r explain.Report) string {
	selected := len(r.Selected)
	kept := "has no decisions yet"

	if selected > 0 {
		kept = "keeps the " + Count(selected, "cluster") + " of its last decisions"
	}

	switch {
	case r.Unanswered != "":
		return "no explanation, " + r.Unanswered + "; the decisions have " + Count(selected, "cluster")
	case r.Skipped != "":
		return "skipped, as " + r.Skipped + "; " + kept
	case r.Stalled && len(r.Clusters) > 0:
		return "the answer is held; " + kept
	case r.Stalled:
		return "no answer; " + kept
	case r.Wanted != nil:
		return fmt.Sprintf("%d of %d wanted selected", selected, *r.Wanted)
	case selected == 0:
		return "none selected"
	case selected < r.Feasible:
		return fmt.Sprintf("%d of %d feasible selected", selected, r.Feasible)
	case selected == 1:
		return "the only feasible cluster selected"
	default:
		return fmt.Sprintf("all %d feasible selected", selected)
	}
}

// groupText returns "group 0 canary: eu1, eu2".
func groupText(g explain.GroupReport) string {
	return groupName(g.Index, g.Name) + ": " + abbreviate(g.Clusters)
}

// groupName returns "group 0 canary", or "group 1" for a decision group without a name.
func groupName(index int32, name string) string {
	text := "group " + strconv.Itoa(int(index))
	if name != "" {
		text += " " + name
	}

	return text
}

// listsOutOfScope reports whether the report lists clusters out of scope; they come last.
func listsOutOfScope(r explain.Report) bool {
	return len(r.Clusters) > 0 && r.Clusters[len(r.Clusters)-1].Verdict == scheduling.StageScope.String()
}
