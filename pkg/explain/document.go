// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// causesShown bounds the rejection causes of one Placement.
const causesShown = 5

// Document implements document.Source. Its names are those of the selected clusters, best first.
func (r Reports) Document(o document.Options) document.Document {
	var d document.Document
	for i := range r.Placements {
		report := &r.Placements[i]
		d.Add(report.Section(o))
		for _, cluster := range report.Selected {
			d.Namef("%s %s", document.QualifiedName(report.Placement, report.API), cluster)
		}
	}
	if len(r.Objects) > 0 {
		d.Append(federated.Reports{Objects: r.Objects, Notes: r.ObjectNotes}.Document(o))
	}
	d.Append(pods.Reports{Workloads: r.Workloads}.Document(o))
	d.Append(requests.Reports{Requests: r.Requests}.Document(o))
	return d
}

// Section is the head of a Report, and a table of the clusters.
func (r *Report) Section(o document.Options) document.Section {
	s := r.Head(o)
	places := map[string]string{}
	for _, group := range r.Groups {
		for _, cluster := range group.Clusters {
			places[cluster] = strings.TrimSpace(strconv.Itoa(int(group.Index)) + " " + group.Name)
		}
	}
	listed, grouped := r.listedClusters(o)
	table := document.Table{Columns: r.columns(o)}
	for i := range listed {
		table.Rows = append(table.Rows, r.row(&listed[i], places[listed[i].Name], o))
	}
	s.Table(table)
	s.Causes(grouped, o)
	// Clusters out of scope come last.
	outOfScope := len(r.Clusters) > 0 && r.Clusters[len(r.Clusters)-1].Verdict == scheduling.StageScope.String()
	if r.OutOfScope > 0 && !outOfScope {
		s.Linef("out of scope: %s, %s (%s lists them)", document.Count(r.OutOfScope, "cluster"), r.OutOfScopeReason, o.All)
	}
	return s
}

// Head has the headline, notable conditions, notes and warnings, without the clusters.
func (r *Report) Head(o document.Options) document.Section {
	s := document.Section{Title: document.Title(r.Placement, r.API), Headline: document.Plainly(r.headline())}
	for _, condition := range r.Conditions {
		if IsNotable(condition) {
			s.Text(document.Alarm(condition.Type, fmt.Sprintf("=%s (%s): %s", condition.Status, condition.Reason, condition.Message)))
		}
	}
	if o.Scores {
		r.addCauses(&s, o)
	}
	s.Lines(r.Notes)
	for _, warning := range r.Warnings[:min(len(r.Warnings), MaxWarnings)] {
		s.Linef("warning: %s", warning)
	}
	if len(r.Warnings) > MaxWarnings {
		s.Linef("warnings not shown: %d", len(r.Warnings)-MaxWarnings)
	}
	addChangesAt(&s, r.ChangesAt)
	if len(r.Groups) > 1 {
		for _, group := range r.Groups {
			s.Linef("%s: %s", groupName(group.Index, group.Name), document.Abbreviate(group.Clusters))
		}
	}
	return s
}

// addChangesAt says when a result can change without an event.
func addChangesAt(s *document.Section, at *metav1.Time) {
	if at != nil {
		s.Linef("may change by itself at %s", at.UTC().Format(time.RFC3339))
	}
}

// addCauses adds the rejection causes, unless a condition or the table of the clusters has them, and the decisions that are still to be written.
func (r *Report) addCauses(s *document.Section, o document.Options) {
	causes := r.Causes
	if _, grouped := r.listedClusters(o); len(grouped) > 0 {
		causes = nil
	}
	if len(causes) > 0 && slices.ContainsFunc(r.Conditions, func(condition metav1.Condition) bool {
		return strings.Contains(condition.Message, causes[0].Clause)
	}) {
		causes = nil
	}
	for _, cause := range causes[:min(len(causes), causesShown)] {
		s.Linef("%s: %s", document.Count(cause.Clusters, "cluster"), document.OneLine(cause.Clause))
	}
	if len(causes) > causesShown {
		s.Linef("causes not shown: %d", len(causes)-causesShown)
	}
	if r.Behind != nil {
		s.Linef("decisions are behind: %s", r.Behind)
	}
}

// String returns "eu1 to be gained; us1, us2 to be lost".
func (b *BehindReport) String() string {
	var parts []string
	for _, part := range []struct {
		clusters []string
		what     string
	}{{b.Gained, "to be gained"}, {b.Lost, "to be lost"}, {b.Moved, "to change the decision group"}} {
		if len(part.clusters) > 0 {
			parts = append(parts, document.Abbreviate(part.clusters)+" "+part.what)
		}
	}
	return strings.Join(parts, "; ")
}

func (r *Report) headline() string {
	selected := len(r.Selected)
	kept := "has no decisions yet"
	if selected > 0 {
		kept = "keeps the " + document.Count(selected, "cluster") + " of its last decisions"
	}
	switch {
	case r.Unanswered != "":
		return "no explanation, " + r.Unanswered + "; the decisions have " + document.Count(selected, "cluster")
	case r.Skipped != "":
		return "skipped, as " + r.Skipped + "; " + kept
	case r.Stalled && len(r.Clusters) > 0:
		return "clusters that would leave stay; the decisions have " + document.Count(selected, "cluster")
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

// groupName returns "group 0 canary", or "group 1" for a decision group without a name.
func groupName(index int32, name string) string {
	return strings.TrimSpace("group " + strconv.Itoa(int(index)) + " " + name)
}

// listedClusters returns the clusters that the table lists, and those that it groups by their cause. Of the rejected ones it lists the first that
// the existing decisions have, because they are held or about to leave.
func (r *Report) listedClusters(o document.Options) (listed []ClusterReport, grouped []document.Rejected) {
	leaving := 0
	for _, cluster := range r.Clusters {
		selected := cluster.Verdict == scheduling.StageSelected.String()
		if !selected && cluster.Decided {
			leaving++
		}
		if selected || cluster.Decided && leaving <= document.RejectedListed {
			listed = append(listed, cluster)
		} else {
			grouped = append(grouped, document.Rejected{Name: cluster.Name, Verdict: cluster.Verdict, Clause: cluster.Clause})
		}
	}
	if !o.Groups(len(grouped)) {
		return r.Clusters, nil
	}
	return listed, grouped
}

func (r *Report) columns(o document.Options) []string {
	columns := []string{"CLUSTER", "VERDICT"}
	if o.Scores {
		columns = append(columns, "RANK")
	}
	columns = append(columns, "SCORE")
	if o.Scores {
		for _, prioritizer := range r.Prioritizers {
			columns = append(columns, fmt.Sprintf("%s x%d", strings.ToUpper(prioritizer.Name), prioritizer.Weight))
		}
	}
	if o.Wide {
		columns = append(columns, "DECIDED", "GROUP")
	}
	return append(columns, "REASON")
}

// row returns the row of a cluster. place is its decision group.
func (r *Report) row(cluster *ClusterReport, place string, o document.Options) document.Row {
	score, rank := document.NoValue, document.NoValue
	if cluster.Score != nil {
		score, rank = strconv.FormatInt(*cluster.Score, 10), strconv.Itoa(cluster.Rank)
	}
	cells := []string{cluster.Name, cluster.Verdict}
	if o.Scores {
		cells = append(cells, rank)
	}
	cells = append(cells, score)
	if o.Scores {
		for _, prioritizer := range r.Prioritizers {
			if given, feasible := cluster.Scores[prioritizer.Name]; feasible {
				cells = append(cells, strconv.FormatInt(given, 10))
			} else {
				cells = append(cells, document.NoValue)
			}
		}
	}
	if o.Wide {
		cells = append(cells, document.YesNo(cluster.Decided), document.OrNone(place))
	}
	row := document.NewRow(append(cells, document.OneLine(cluster.Hold.Explain(cluster.Reason)))...)
	row.Cells[1].Tone = document.VerdictTone(cluster.Verdict)
	return row
}

// Document implements document.Source. Its names are those of the Placements.
func (u Unsatisfied) Document(document.Options) document.Document {
	var d document.Document
	count := document.Count(u.Evaluated, "placement")
	text := fmt.Sprintf("%d of %s unsatisfied", len(u.Placements), count)
	switch {
	case u.Evaluated == 0 && u.Namespace != "":
		text = "no placements in namespace " + u.Namespace + "; --all-namespaces lists those of all"
	case u.Evaluated == 0:
		text = "no placements"
	case len(u.Placements) == 0:
		text = "all of " + count + " satisfied"
	}
	s := document.Section{Headline: document.Plainly(text)}
	table := document.Table{Columns: []string{"NAMESPACE/NAME", "SELECTED", "STATUS", "CLUSTERS", "MAIN CAUSE"}}
	for _, placement := range u.Placements {
		name := document.QualifiedName(placement.Placement, placement.API)
		selected, wanted, clusters, cause := strconv.Itoa(placement.Selected), "all", document.NoValue, placement.Message
		if placement.Uncounted {
			selected = "?"
		}
		if placement.Wanted != nil {
			wanted = strconv.Itoa(int(*placement.Wanted))
		}
		if placement.Cause != nil {
			clusters, cause = strconv.Itoa(placement.Cause.Clusters), placement.Cause.Clause
		}
		row := document.NewRow(name, selected+"/"+wanted, placement.Reason, clusters, document.OneLine(cause))
		if placement.Stalled {
			row.Cells[2].Tone = document.Bad
		}
		table.Rows = append(table.Rows, row)
		d.Namef("%s", name)
	}
	s.Table(table)
	d.Add(s)
	return d
}
