// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Document implements document.Source. Without Scores the table lists the clusters that get an object or have it, and counts the others. Its
// names are "namespace/name@kind cluster" for each selected cluster.
func (r Reports) Document(o document.Options) document.Document {
	var d document.Document
	for i := range r.Objects {
		report := &r.Objects[i]
		d.Add(report.Section(o))
		for _, cluster := range report.Selected {
			d.Namef("%s %s", report.QualifiedName(), cluster)
		}
	}
	if len(r.Objects) == 0 && len(r.Notes) == 0 {
		d.Note(fmt.Sprintf("no object is delivered: label its Namespace %s=true", federation.FederatedLabel))
	}
	if r.Excluded > 0 {
		verb := "are"
		if r.Excluded == 1 {
			verb = "is"
		}
		d.Note(document.Count(r.Excluded, "object") + " " + verb + " never delivered; name one to see why")
	}
	d.Note(r.Notes...)
	return d
}

// QualifiedName returns "team-a/web@deployment.apps".
func (r *Report) QualifiedName() string {
	return document.QualifiedObject(r.Namespace, r.Name, r.Kind, r.Group)
}

// Section is a headline, notes, and a table of the clusters.
func (r *Report) Section(o document.Options) document.Section {
	s := r.Head(o)
	shown, others, grouped := r.shownClusters(o)
	table := document.Table{Columns: r.columns(o)}
	for i := range shown {
		table.Rows = append(table.Rows, r.row(&shown[i], o))
	}
	s.Table(table)
	s.Causes(grouped, o)
	if others > 0 {
		s.Linef("not selected: %s (name the object to see why)", document.Count(others, "cluster"))
	}
	if r.OutOfScope > 0 && !o.Wide && r.OutOfScopeReason != "" {
		s.Linef("out of scope: %s, %s", document.Count(r.OutOfScope, "cluster"), r.OutOfScopeReason)
	}
	return s
}

// Head is the headline, what is missing or held, and the notes.
func (r *Report) Head(o document.Options) document.Section {
	s := document.Section{Title: r.Object, Headline: r.headline()}
	switch {
	case r.Message != "" && r.Reason != "":
		s.Text(document.Alarm(r.Reason, ": "+r.Message))
	case r.Message != "":
		s.Linef("%s", r.Message)
	}
	if r.RemovalHeld != "" {
		s.Text(document.Alarm(federation.ReasonRemovalHeld, ": "+r.RemovalHeld))
	}
	if r.Replicas != nil && r.Replicas.Unplaced > 0 {
		s.Text(document.Alarm(federation.ReasonReplicasUnplaced, ": "+r.Replicas.UnplacedMessage))
	}
	for _, missing := range r.Missing {
		s.Text(document.Alarm(federation.ReasonDependenciesMissing,
			": "+missing.Kind+" "+missing.Name+" does not reach "+document.Abbreviate(missing.Clusters)))
	}
	if len(r.Missing) > 0 {
		s.Detailf("the annotation %s=true on the object delivers them too", federation.PropagateDependenciesAnnotation)
	}
	if o.Scores {
		s.Lines(r.Notes)
	}
	return s
}

// headline returns "2 clusters selected by location in (europe), 2 applied; 9 of 9 replicas ready".
func (r *Report) headline() document.Text {
	text := r.stateText()
	state := federation.State(r.State)
	switch {
	case state == federation.NotDelivered:
		return text
	case r.WorksUnread && state == federation.Delivering:
		text = text.With("; " + worksUnread)
	case !r.WorksUnread && (r.Delivered > 0 || len(r.Selected) > 0):
		text = text.With(fmt.Sprintf(", applied in %d", r.Applied))
	}
	switch {
	case r.Replicas == nil:
	case !r.WorksUnread:
		text = text.With(fmt.Sprintf("; %d of %s ready", r.Replicas.Ready, document.Count(int(r.Replicas.Total), "replica")))
	case r.State != "":
		text = text.With("; " + document.Count(int(r.Replicas.Total), "replica"))
	}
	if r.SelectedClusters != nil {
		text = text.With("; " + document.Count(int(*r.SelectedClusters), "cluster") + " selected by these hubs")
	}
	return text
}

// stateText returns "2 clusters selected by location in (europe)", or what is done otherwise.
func (r *Report) stateText() document.Text {
	switch federation.State(r.State) {
	case federation.Delivering:
		return document.Plainly(r.selectionText())
	case federation.Held:
		return document.Alarm("held", ", "+r.keepers())
	case federation.Suspended:
		return document.Alarm("suspended", ", "+r.keepers())
	case federation.NotDelivered:
		return document.Plainly("not delivered")
	case federation.Deleting:
		if r.WorksUnread {
			return document.Alarm("being deleted", ", "+worksUnread)
		}
		return document.Alarm("being deleted", ", "+document.Count(r.Delivered, "cluster")+" left")
	default:
		if r.WorksUnread {
			return document.Plainly("not evaluated; " + worksUnread)
		}
		return document.Plainly("not evaluated; ManifestWorks in " + document.Count(r.Delivered, "cluster"))
	}
}

func (r *Report) selectionText() string {
	text := document.Count(len(r.Selected), "cluster") + " selected"
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

// keepers returns "2 clusters keep it", or that this is not known.
func (r *Report) keepers() string {
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
		return document.Count(clusters, "cluster") + " keep it"
	}
}

// shownClusters returns the clusters of the table, and the number of the others or, if the options group them, those by their cause.
func (r *Report) shownClusters(o document.Options) (shown []Cluster, others int, grouped []document.Rejected) {
	for _, cluster := range r.Clusters {
		if cluster.Delivered || cluster.Pending != "" || cluster.Verdict == scheduling.StageSelected.String() {
			shown = append(shown, cluster)
		} else {
			grouped = append(grouped, document.Rejected{Name: cluster.Name, Verdict: cluster.Verdict, Clause: cluster.Clause})
		}
	}
	switch {
	case !o.Scores:
		return shown, len(grouped), nil
	case o.Groups(len(grouped)):
		return shown, 0, grouped
	default:
		return r.Clusters, 0, nil
	}
}

func (r *Report) columns(o document.Options) []string {
	columns := []string{"CLUSTER", "VERDICT", "APPLIED", "AVAILABLE"}
	if r.Replicas != nil {
		columns = append(columns, "READY")
	}
	if r.SelectedClusters != nil {
		columns = append(columns, "SELECTED")
	}
	if o.Wide {
		columns = append(columns, "WORK", "PENDING")
	}
	return append(columns, "DETAIL")
}

func (r *Report) row(cluster *Cluster, o document.Options) document.Row {
	cells := []string{
		cluster.Name, document.OrNone(cluster.Verdict), document.OrNone(cluster.Applied), document.OrNone(cluster.Available),
	}
	if r.Replicas != nil {
		cells = append(cells, cluster.replicas())
	}
	if r.SelectedClusters != nil {
		cells = append(cells, cluster.selected())
	}
	if o.Wide {
		cells = append(cells, document.YesNo(cluster.Delivered), document.OrNone(cluster.Pending))
	}
	row := document.NewRow(append(cells, document.OrNone(document.OneLine(cluster.detail())))...)
	row.Cells[1].Tone = document.VerdictTone(cluster.Verdict)
	if cluster.Applied == "False" {
		row.Cells[2].Tone = document.Bad
	}
	return row
}

// selected returns how many clusters the hub that got a Placement has selected.
func (c *Cluster) selected() string {
	if c.Selected == nil {
		return document.NoValue
	}
	return strconv.Itoa(int(*c.Selected))
}

// replicas returns "2/3", the ready and the wanted replicas.
func (c *Cluster) replicas() string {
	switch {
	case c.Wanted == nil:
		return document.NoValue
	case c.Ready == nil:
		return document.NoValue + "/" + strconv.Itoa(int(*c.Wanted))
	default:
		return strconv.Itoa(int(*c.Ready)) + "/" + strconv.Itoa(int(*c.Wanted))
	}
}

// detail returns the reason of a verdict, what is to be done, and the last error of the agent.
func (c *Cluster) detail() string {
	var parts []string
	if reason := c.Hold.Explain(c.Reason); reason != "" {
		parts = append(parts, reason)
	}
	if c.WhyNoReplicas != "" {
		parts = append(parts, c.WhyNoReplicas)
	}
	if text := pendingTexts[c.Pending]; text != "" {
		parts = append(parts, text)
	}
	if c.Problem != "" {
		parts = append(parts, "agent: "+c.Problem)
	}
	return strings.Join(parts, "; ")
}

var pendingTexts = map[string]string{
	PendingCreate:   "to be delivered",
	PendingUpdate:   "to be updated",
	PendingWithdraw: "to be withdrawn",
	PendingWait:     "waits until its agent has removed the copy of before",
	PendingRemove:   "waits for its agent to remove the copy",
	PendingConflict: "has a ManifestWork of that name that is not of this object; delete it or rename the object",
}
