// SPDX-License-Identifier: Apache-2.0

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
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
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

			if len(reports.Placements) > 0 && len(reports.Objects) > 0 {
				text.WriteByte('\n')
			}

			if len(reports.Objects) > 0 {
				writeObjects(text, federated.Reports{Objects: reports.Objects, Notes: reports.ObjectNotes}, Style{})
			}

			if len(reports.Placements)+len(reports.Objects) > 0 && len(reports.Workloads) > 0 {
				text.WriteByte('\n')
			}

			writeWorkloads(text, reports.Workloads, nil, Style{})

			if text.Len() > 0 && len(reports.Requests) > 0 {
				text.WriteByte('\n')
			}

			writeRequests(text, reports.Requests, Style{})
		},
		names: func(text *bytes.Buffer) {
			for _, report := range reports.Placements {
				for _, cluster := range report.Selected {
					fmt.Fprintf(text, "%s %s\n", QualifiedName(report.Placement, report.API), cluster)
				}
			}

			writeSelectedClusters(text, reports.Objects)
			writeNodeNames(text, reports.Workloads)
			writeRequestNames(text, reports.Requests)
		},
	}.write(out, format, Formats(), reports)
}

// Explanations prints Explanations. FormatName prints the selected clusters that are explained.
func Explanations(out io.Writer, format Format, explanations counterfactual.Explanations, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) {
			for i, explanation := range explanations.Placements {
				if i > 0 {
					text.WriteByte('\n')
				}

				writeExplanation(text, explanation, style)
			}
		},
		names: func(text *bytes.Buffer) {
			for _, explanation := range explanations.Placements {
				writeExplainedNames(text, explanation)
			}
		},
	}.write(out, format, WideFormats(), explanations)
}

func writeExplanation(out *bytes.Buffer, e counterfactual.Explanation, style Style) {
	if len(e.Explanations) == 0 {
		writeReport(out, e.Report, style)

		return
	}

	writeHead(out, e.Report, style)

	for _, explained := range e.Explanations {
		out.WriteByte('\n')
		writeCluster(out, explained, style)
	}
}

func writeExplainedNames(out *bytes.Buffer, e counterfactual.Explanation) {
	for _, cluster := range e.Selected {
		reported := len(e.Explanations) == 0 || slices.ContainsFunc(e.Explanations, func(explained counterfactual.ClusterExplanation) bool {
			return explained.Cluster == cluster
		})
		if reported {
			fmt.Fprintf(out, "%s %s\n", QualifiedName(e.Placement, e.API), cluster)
		}
	}
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
		writeCauses(out, r, style)
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

// writeCauses writes the rejection causes, unless a condition or the table of the clusters has them, and the decisions that are still to be written.
func writeCauses(out *bytes.Buffer, r explain.Report, style Style) {
	causes := r.Causes
	if _, grouped := listedClusters(r, style); len(grouped) > 0 {
		causes = nil
	}

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
		return "clusters that would leave stay; the decisions have " + Count(selected, "cluster")
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

// writeClusters writes the table of the clusters of a Report.
func writeClusters(out *bytes.Buffer, r explain.Report, style Style) {
	if len(r.Clusters) == 0 {
		return
	}

	places := map[string]string{}

	for _, group := range r.Groups {
		for _, cluster := range group.Clusters {
			places[cluster] = strings.TrimSpace(strconv.Itoa(int(group.Index)) + " " + group.Name)
		}
	}

	listed, grouped := listedClusters(r, style)
	rows := make([][]string, 0, len(listed)+1)
	rows = append(rows, clusterColumns(r, style))

	for _, cluster := range listed {
		rows = append(rows, clusterCells(r, cluster, places, style))
	}

	if len(listed) > 0 {
		style.writeTable(out, rows, func(row, column int, text string) string {
			if row > 0 && column == 1 {
				return style.verdict(listed[row-1].Verdict, text)
			}

			return style.header(row, column, text)
		})
	}

	if len(grouped) > 0 {
		writeGroupedCauses(out, grouped, style)
	}
}

// listedClusters returns the clusters that the table lists, and those that it groups by their cause. Of the rejected ones it lists the first that
// the existing decisions have, because they are about to leave.
func listedClusters(r explain.Report, style Style) (listed []explain.ClusterReport, grouped []rejected) {
	leaving := 0

	for _, cluster := range r.Clusters {
		selected := cluster.Verdict == scheduling.StageSelected.String()
		if !selected && cluster.Decided {
			leaving++
		}

		if selected || cluster.Decided && leaving <= rejectedListed {
			listed = append(listed, cluster)
		} else {
			grouped = append(grouped, rejected{name: cluster.Name, verdict: cluster.Verdict, clause: cluster.Clause})
		}
	}

	if !style.groups(len(grouped)) {
		return r.Clusters, nil
	}

	return listed, grouped
}

func clusterColumns(r explain.Report, style Style) []string {
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

func clusterCells(r explain.Report, cluster explain.ClusterReport, places map[string]string, style Style) []string {
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
