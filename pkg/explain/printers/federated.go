// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Federated prints Reports of federated objects. Without Style.Scores the table lists the clusters that get an object or have it, and counts
// the others. FormatName prints "namespace/name@kind cluster" for each selected cluster.
func Federated(out io.Writer, format Format, reports federated.Reports, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) { writeObjects(text, reports, style) },
		names: func(text *bytes.Buffer) { writeSelectedClusters(text, reports.Objects) },
	}.write(out, format, WideFormats(), reports)
}

// writeSelectedClusters writes a line for each selected cluster of each object.
func writeSelectedClusters(out *bytes.Buffer, reports []federated.Report) {
	for _, report := range reports {
		for _, cluster := range report.Selected {
			fmt.Fprintf(out, "%s %s\n", objectName(report), cluster)
		}
	}
}

// ObjectExplanations prints explanations of objects. FormatName prints the selected clusters that are explained.
func ObjectExplanations(out io.Writer, format Format, explanations counterfactual.ObjectExplanations, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) { writeObjectExplanations(text, explanations, style) },
		names: func(text *bytes.Buffer) { writeObjectNames(text, explanations) },
	}.write(out, format, WideFormats(), explanations)
}

func writeObjectExplanations(out *bytes.Buffer, explanations counterfactual.ObjectExplanations, style Style) {
	for i, explanation := range explanations.Objects {
		if i > 0 {
			out.WriteByte('\n')
		}

		if len(explanation.Explanations) == 0 {
			writeObject(out, explanation.Report, style)

			continue
		}

		writeObjectHead(out, explanation.Report, style)

		for _, explained := range explanation.Explanations {
			out.WriteByte('\n')
			writeCluster(out, explained, style)
		}
	}

	for _, note := range explanations.Notes {
		fmt.Fprintf(out, "%s\n", Printable(indented(note)))
	}
}

func writeObjectNames(out *bytes.Buffer, explanations counterfactual.ObjectExplanations) {
	for _, explanation := range explanations.Objects {
		for _, cluster := range explanation.Clusters {
			if cluster.Verdict == scheduling.StageSelected.String() {
				fmt.Fprintf(out, "%s %s\n", objectName(explanation.Report), cluster.Name)
			}
		}
	}
}

// objectName returns "team-a/web@deployment.apps".
func objectName(r federated.Report) string {
	return qualifiedObject(r.Namespace, r.Name, r.Kind, r.Group)
}

func qualifiedObject(namespace, name, kind, group string) string {
	text := namespace + "/" + name + "@" + strings.ToLower(kind)
	if group != "" {
		text += "." + group
	}

	return text
}

func writeObjects(out *bytes.Buffer, reports federated.Reports, style Style) {
	for i, report := range reports.Objects {
		if i > 0 {
			out.WriteByte('\n')
		}

		writeObject(out, report, style)
	}

	if len(reports.Objects) == 0 && len(reports.Notes) == 0 {
		fmt.Fprintf(out, "no object is delivered: label its Namespace %s=true\n", federation.FederatedLabel)
	}

	if reports.Excluded > 0 {
		fmt.Fprintf(out, "%s never delivered; name one to see why\n", countAre(reports.Excluded, "object"))
	}

	for _, note := range reports.Notes {
		fmt.Fprintf(out, "%s\n", Printable(indented(note)))
	}
}

// countAre returns "1 object is" or "2 objects are".
func countAre(n int, noun string) string {
	if n == 1 {
		return Count(n, noun) + " is"
	}

	return Count(n, noun) + " are"
}

// writeObject writes the report of an object for people: a headline, its notes, and a table of the clusters.
func writeObject(out *bytes.Buffer, r federated.Report, style Style) {
	writeObjectHead(out, r, style)

	clusters, others, grouped := shownClusters(r, style)
	rows := make([][]string, 0, 1+len(clusters))
	rows = append(rows, objectColumns(r, style))

	for _, cluster := range clusters {
		rows = append(rows, objectCells(r, cluster, style))
	}

	if len(rows) > 1 {
		style.writeTable(out, rows, func(row, column int, text string) string {
			switch {
			case row > 0 && column == 1:
				return style.verdict(clusters[row-1].Verdict, text)
			case row > 0 && column == 2 && clusters[row-1].Applied == "False":
				return style.alarm(text)
			default:
				return style.header(row, column, text)
			}
		})
	}

	if len(grouped) > 0 {
		writeGroupedCauses(out, grouped, style)
	}

	if others > 0 {
		fmt.Fprintf(out, "  not selected: %s (name the object to see why)\n", Count(others, "cluster"))
	}

	if r.OutOfScope > 0 && !style.Wide && r.OutOfScopeReason != "" {
		fmt.Fprintf(out, "  out of scope: %s, %s\n", Count(r.OutOfScope, "cluster"), r.OutOfScopeReason)
	}
}

// writeObjectHead writes the headline of a report, what is missing or held, and the notes.
func writeObjectHead(out *bytes.Buffer, r federated.Report, style Style) {
	fmt.Fprintf(out, "%s: %s\n", style.bold(r.Object), objectHeadline(r, style))

	if r.Message != "" {
		reason := ""
		if r.Reason != "" {
			reason = style.alarm(r.Reason) + ": "
		}

		fmt.Fprintf(out, "  %s%s\n", reason, Printable(indented(r.Message)))
	}

	if r.RemovalHeld != "" {
		fmt.Fprintf(out, "  %s: %s\n", style.alarm(federation.ReasonRemovalHeld), Printable(r.RemovalHeld))
	}

	for _, missing := range r.Missing {
		fmt.Fprintf(out, "  %s: %s %s does not reach %s\n", style.alarm(federation.ReasonDependenciesMissing), missing.Kind, missing.Name,
			abbreviate(missing.Clusters))
	}

	if len(r.Missing) > 0 {
		fmt.Fprintf(out, "    the annotation %s=true on the object delivers them too\n", federation.PropagateDependenciesAnnotation)
	}

	if style.Scores {
		for _, note := range r.Notes {
			fmt.Fprintf(out, "  %s\n", Printable(indented(note)))
		}
	}
}

// objectHeadline returns "2 clusters selected by location in (europe), 2 applied; 9 of 9 replicas ready".
func objectHeadline(r federated.Report, style Style) string {
	text := stateText(r, style)
	if federation.State(r.State) == federation.NotDelivered {
		return text
	}

	switch {
	case r.WorksUnread:
		if federation.State(r.State) == federation.Delivering {
			text += "; " + worksUnread
		}

		if r.Replicas != nil && r.State != "" {
			text += "; " + Count(int(r.Replicas.Total), "replica")
		}

		return text
	case r.Delivered > 0 || len(r.Selected) > 0:
		text += fmt.Sprintf(", applied in %d", r.Applied)
	}

	if r.Replicas != nil {
		text += fmt.Sprintf("; %d of %s ready", r.Replicas.Ready, Count(int(r.Replicas.Total), "replica"))
	}

	return text
}

// stateText returns "2 clusters selected by location in (europe)", or what is done otherwise.
func stateText(r federated.Report, style Style) string {
	switch federation.State(r.State) {
	case federation.Delivering:
		return selectionText(r)
	case federation.Held:
		return style.alarm("held") + ", " + keepersIn(r)
	case federation.Suspended:
		return style.alarm("suspended") + ", " + keepersIn(r)
	case federation.NotDelivered:
		return "not delivered"
	case federation.Deleting:
		if r.WorksUnread {
			return style.alarm("being deleted") + ", " + worksUnread
		}

		return style.alarm("being deleted") + ", " + Count(r.Delivered, "cluster") + " left"
	default:
		if r.WorksUnread {
			return "not evaluated; " + worksUnread
		}

		return "not evaluated; ManifestWorks in " + Count(r.Delivered, "cluster")
	}
}

func selectionText(r federated.Report) string {
	text := Count(len(r.Selected), "cluster") + " selected"
	if len(r.Selected) == 0 {
		text = "no cluster selected"
	}

	switch r.Target {
	case "", federation.Target{Nowhere: true}.String():
	case federation.Target{}.String():
		text += ", all in scope"
	default:
		text += " by " + r.Target
	}

	if r.FromNamespace {
		text += " of the Namespace"
	}

	return text
}

// worksUnread replaces the number of clusters when the ManifestWorks could not be read.
const worksUnread = "its ManifestWorks could not be read"

// keepersIn returns "2 clusters keep it", or that this is not known.
func keepersIn(r federated.Report) string {
	if r.WorksUnread {
		return worksUnread
	}

	return keepers(r.Delivered)
}

// keepers returns "2 clusters keep it".
func keepers(clusters int) string {
	switch clusters {
	case 0:
		return "no cluster has it"
	case 1:
		return "1 cluster keeps it"
	default:
		return Count(clusters, "cluster") + " keep it"
	}
}

// shownClusters returns the clusters of the table, and the number of the others or, if the Style groups them, those by their cause.
func shownClusters(r federated.Report, style Style) (shown []federated.Cluster, others int, grouped []rejected) {
	for _, cluster := range r.Clusters {
		if cluster.Delivered || cluster.Pending != "" || cluster.Verdict == scheduling.StageSelected.String() {
			shown = append(shown, cluster)
		} else {
			grouped = append(grouped, rejected{name: cluster.Name, verdict: cluster.Verdict, clause: cluster.Clause})
		}
	}

	switch {
	case !style.Scores:
		return shown, len(grouped), nil
	case style.groups(len(grouped)):
		return shown, 0, grouped
	default:
		return r.Clusters, 0, nil
	}
}

func objectColumns(r federated.Report, style Style) []string {
	columns := []string{"CLUSTER", "VERDICT", "APPLIED", "AVAILABLE"}
	if r.Replicas != nil {
		columns = append(columns, "READY")
	}

	if style.Wide {
		columns = append(columns, "WORK", "PENDING")
	}

	return append(columns, "DETAIL")
}

func objectCells(r federated.Report, cluster federated.Cluster, style Style) []string {
	cell := func(text string) string {
		if text == "" {
			return noValue
		}

		return text
	}
	cells := []string{cluster.Name, cell(cluster.Verdict), cell(cluster.Applied), cell(cluster.Available)}

	if r.Replicas != nil {
		replicas := noValue
		if cluster.Wanted != nil {
			replicas += "/" + strconv.Itoa(int(*cluster.Wanted))
		}

		if cluster.Wanted != nil && cluster.Ready != nil {
			replicas = strconv.Itoa(int(*cluster.Ready)) + "/" + strconv.Itoa(int(*cluster.Wanted))
		}

		cells = append(cells, replicas)
	}

	if style.Wide {
		cells = append(cells, yesNo(cluster.Delivered), cell(cluster.Pending))
	}

	return append(cells, cell(oneLine(clusterDetail(cluster))))
}

// clusterDetail returns the reason of a verdict, what is to be done, and the last error of the agent.
func clusterDetail(cluster federated.Cluster) string {
	var parts []string

	if cluster.Reason != "" {
		parts = append(parts, cluster.Reason)
	}

	if text := pendingTexts[cluster.Pending]; text != "" {
		parts = append(parts, text)
	}

	if cluster.Problem != "" {
		parts = append(parts, "agent: "+cluster.Problem)
	}

	return strings.Join(parts, "; ")
}

var pendingTexts = map[string]string{
	federated.PendingCreate:   "to be delivered",
	federated.PendingUpdate:   "to be updated",
	federated.PendingWithdraw: "to be withdrawn",
	federated.PendingHold:     "its withdrawal is held",
	federated.PendingWait:     "waits until its agent has removed the copy of before",
	federated.PendingRemove:   "waits for its agent to remove the copy",
	federated.PendingConflict: "has a ManifestWork of that name that is not of this object; delete it or rename the object",
}
