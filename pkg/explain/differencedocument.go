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
		doc.Changes(document.QualifiedName(d.Placement, d.API), d.Changes())
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
	kept, names := len(d.Kept), d.Kept
	if d.Stalled != "" || d.Skipped != "" {
		kept = 0
	}
	if !o.ShowKept || kept == 0 {
		names = nil
	}
	s.Changes(d.Changes(), kept, names)
	return s
}

func (d Difference) headline() string {
	counts := d.Changes().Summary(len(d.Kept), document.OfKept(len(d.Moved), "in another group"))
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

// Changes are the gained, lost and moved clusters.
func (d Difference) Changes() document.Changes {
	changes := make(document.Changes, 0, len(d.Gained)+len(d.Lost)+len(d.Moved))
	for _, gain := range d.Gained {
		reason := gain.Reason
		if gain.Group != (DecisionGroup{}) {
			reason += ", " + groupName(gain.Group.Index, gain.Group.Name)
		}
		changes = append(changes, document.Change{Mark: document.Gained, Name: gain.Cluster, Reason: reason, Anyway: gain.Anyway})
	}
	for _, loss := range d.Lost {
		changes = append(changes, document.Change{Mark: document.Lost, Name: loss.Cluster, Reason: loss.Reason, Anyway: loss.Anyway})
	}
	for _, move := range d.Moved {
		reason := groupName(move.From.Index, move.From.Name) + " -> " + groupName(move.To.Index, move.To.Name)
		changes = append(changes, document.Change{Mark: document.Moved, Name: move.Cluster, Reason: reason, Anyway: move.Anyway})
	}
	return changes
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
