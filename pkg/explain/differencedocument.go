// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// Document implements document.Source. Its names are "namespace/name +cluster" for every gained cluster, with "-" for every lost and "~" for every
// moved one, without kept clusters.
func (d Differences) Document(o document.Options) document.Document {
	var doc document.Document
	if d.Affected != nil {
		doc.Add(document.Section{Headline: document.Plainly(d.Affected.affects())})
	}
	doc.Append(differencesDocument(d.Placements, o))
	if d.ObjectSummary != nil {
		doc.Append(federated.DifferencesDocument(d.Objects, d.ObjectSummary, d.ObjectNotes))
	}
	if d.Pods != nil {
		doc.Append(d.Pods.Document(o))
	}
	if d.Requests != nil {
		doc.Append(d.Requests.Document(o))
	}
	for _, refused := range d.Refused {
		s := document.Section{Title: refused.Object, Headline: document.Plainly("would be refused")}
		s.Lines(refused.Reasons)
		doc.Add(s)
	}
	if d.Otherwise != nil {
		doc.Add(document.Section{Headline: document.Plainly("if they are written by server-side apply:")})
		otherwise := d.Otherwise.Document(o)
		doc.Add(otherwise.Sections...)
		for _, name := range otherwise.Names {
			if !slices.Contains(doc.Names, name) {
				doc.Names = append(doc.Names, name)
			}
		}
	}
	doc.Note(d.Notes...)
	return doc
}

func differencesDocument(differences []Difference, o document.Options) document.Document {
	var doc document.Document
	for i := range differences {
		d := &differences[i]
		doc.Add(d.section(o))
		name := document.QualifiedName(d.Placement, d.API)
		for _, gain := range d.Gained {
			doc.Namef("%s %s%s", name, document.Gained, gain.Cluster)
		}
		for _, loss := range d.Lost {
			doc.Namef("%s %s%s", name, document.Lost, loss.Cluster)
		}
		for _, move := range d.Moved {
			doc.Namef("%s %s%s", name, document.Moved, move.Cluster)
		}
	}
	return doc
}

// section is a summary, the notes, and a row for each cluster that changes.
func (d Difference) section(o document.Options) document.Section {
	s := document.Section{Title: document.Title(d.Placement, d.API), Headline: document.Plainly(d.headline())}
	if d.New {
		s.Title += " (new)"
	}
	s.Lines(d.Notes)
	addChangesAt(&s, d.ChangesAt)
	if d.Stalled != "" {
		s.Linef("%s", d.Stalled)
	}
	s.Table(d.table())
	switch {
	case len(d.Kept) == 0 || d.Stalled != "" || d.Skipped != "":
	case !o.ShowKept:
		s.Linef("%s %d kept", document.Kept, len(d.Kept))
	default:
		for _, cluster := range d.Kept {
			s.Linef("%s %s", document.Kept, cluster)
		}
	}
	return s
}

func (d Difference) headline() string {
	counts := fmt.Sprintf("%d gained, %d lost, %d kept", len(d.Gained), len(d.Lost), len(d.Kept))
	if len(d.Moved) > 0 {
		counts += fmt.Sprintf(", %d of them in another group", len(d.Moved))
	}
	if !d.Differs() {
		counts = fmt.Sprintf("no difference, %d kept", len(d.Kept))
	}
	kept := "it would have no decisions"
	if len(d.Kept) > 0 {
		kept = "it would keep the " + document.Count(len(d.Kept), "cluster") + " of its last decisions"
	}
	switch {
	case d.Stalled != "" && d.Differs():
		return "clusters that would leave stay; " + counts
	case d.Stalled != "":
		return "no answer; if this were applied, " + kept
	case d.Skipped != "":
		return "no difference, as " + d.Skipped + "; " + kept
	case d.Wanted != nil:
		return fmt.Sprintf("%s; %d of %d wanted", counts, d.Selected, *d.Wanted)
	default:
		return counts
	}
}

// table has a row for each gained, lost and moved cluster.
func (d Difference) table() document.Table {
	var table document.Table
	for _, gain := range d.Gained {
		text := gain.Reason
		if gain.Group != (DecisionGroup{}) {
			text += ", " + groupName(gain.Group.Index, gain.Group.Name)
		}
		table.Change(document.Gained, gain.Cluster, text, gain.Anyway)
	}
	for _, loss := range d.Lost {
		table.Change(document.Lost, loss.Cluster, loss.Reason, loss.Anyway)
	}
	for _, move := range d.Moved {
		text := groupName(move.From.Index, move.From.Name) + " -> " + groupName(move.To.Index, move.To.Name)
		table.Change(document.Moved, move.Cluster, text, move.Anyway)
	}
	return table
}

// Document implements document.Source. Its names are those of Differences.
func (w WhatIf) Document(o document.Options) document.Document {
	s := document.Section{Headline: document.Plainly("what if: " + strings.Join(w.Changes, ", "))}
	// Without Placements the result does not mention them.
	if w.Pods == nil && w.Requests == nil || w.Summary != (WhatIfSummary{}) {
		s.Notes = append(s.Notes, w.Summary.String())
	}
	doc := document.Document{Sections: []document.Section{s}}
	doc.Append(differencesDocument(w.Placements, o))
	for i, stalled := range w.Stalled {
		doc.Add(document.Section{
			Title: document.Title(stalled.Placement, stalled.API), Headline: document.Plainly("stalled; " + stalled.Reason), Joined: i > 0,
		})
	}
	if w.ObjectSummary != nil {
		doc.Append(federated.DifferencesDocument(w.Objects, w.ObjectSummary, w.ObjectNotes))
	}
	doc.Append(pods.Reports{Workloads: w.Workloads}.Document(o))
	doc.Append(Differences{Pods: w.Pods, Requests: w.Requests}.Document(o))
	return doc
}

// affects returns "the cluster sets and bindings affect 6 of 20 placements: 4 placements lose 12 clusters, ...".
func (s WhatIfSummary) affects() string {
	all := s.Affected + s.Later + s.Unchanged + s.Stalled
	return fmt.Sprintf("the cluster sets and bindings affect %d of %s: %s", s.Affected, document.Count(all, "placement"), s)
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
			counts = append(counts, document.Count(placements, "placement")+" "+verb)
		} else {
			counts = append(counts, fmt.Sprintf("%d %s", placements, verb))
		}
	}
	lost, gained, moved := document.Count(s.Lost, "cluster"), document.Count(s.Gained, "cluster"), document.Count(s.Moved, "cluster")
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
