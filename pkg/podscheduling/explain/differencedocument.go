// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Document implements document.Source: the applied objects, a section for each workload with its unified diff, and the Tenants. Its names are
// "namespace/name@kind ~field" for every field that the next admission adds, and "+node" and "-node" for the nodes that fit only after or only
// before the change.
func (d *Differences) Document(document.Options) document.Document {
	var doc document.Document
	for i := range d.Objects {
		doc.Add(d.Objects[i].section())
		doc.Sections[i].Joined = i > 0
	}
	for i := range d.Workloads {
		workload := &d.Workloads[i]
		doc.Add(workload.section())
		doc.Changes(document.QualifiedObject(workload.Namespace, workload.Name, workload.Kind, ""), workload.changes())
	}
	for i := range d.Tenants {
		doc.Add(d.Tenants[i].section())
	}
	if len(d.Workloads)+len(d.Tenants) == 0 && !d.WorkloadsUnread {
		doc.Note("no other workload and no Tenant differs")
	}
	doc.Note(d.Notes...)
	return doc
}

func (a *Applied) section() document.Section {
	state := "changed"
	switch {
	case len(a.Refused) > 0:
		state = "would be refused"
	case a.New:
		state = "new"
	case a.Unchanged:
		state = "unchanged"
	}
	s := document.Section{Title: a.Object, Headline: document.Plainly(state)}
	s.Lines(a.Refused)
	for _, warning := range a.Warnings {
		s.Linef("warning: %s", warning)
	}
	s.Lines(a.Lines("live object"))
	return s
}

func (d *Difference) section() document.Section {
	s := document.Section{Title: fmt.Sprintf("%s %s/%s", d.Kind, d.Namespace, d.Name), Headline: document.Plainly(d.headline())}
	if len(d.Dropped) > 0 {
		s.Linef("no policy adds %s any more", strings.Join(d.Dropped, ", "))
	}
	for _, skip := range d.Skipped {
		s.Linef("skipped: %s", skip.Message)
	}
	switch {
	case d.Denial != "":
		s.Linef("new Pods are refused: %s", d.Denial)
	case d.Admitted:
		s.Linef("new Pods are no longer refused")
	}
	if len(d.LacksOfClass) > 0 {
		s.Linef("%s", olderThanClass(d.LacksOfClass))
	}
	if d.After != nil {
		s.Linef("%s%s", d.After.Message, d.nodeChanges())
	}
	if d.Patch != "" {
		s.Blocks = append(s.Blocks, document.Block{Patch: d.Patch})
	}
	return s
}

func (d *Difference) headline() string {
	mark := ""
	if d.Anyway {
		mark = document.Anyway
	}
	switch {
	case len(d.Lacks) == 0 && len(d.LacksOfClass) > 0:
		return "older than its class" + mark
	case len(d.Lacks) == 0:
		return "policies add nothing" + mark
	case d.Kind == "Pod" || d.Kind == "Job":
		return fmt.Sprintf("a new %s gets %s%s", d.Kind, strings.Join(d.Lacks, ", "), mark)
	default:
		return fmt.Sprintf("the next update adds %s%s", strings.Join(d.Lacks, ", "), mark)
	}
}

// changes are the nodes that fit only after the change, those that fit only before it, and the fields that the next admission adds. Without nodes
// that could be read it has the fields alone.
func (d *Difference) changes() document.Changes {
	var changes document.Changes
	add := func(mark string, names, others []string) {
		for _, name := range names {
			if !slices.Contains(others, name) {
				changes = append(changes, document.Change{Mark: mark, Name: name})
			}
		}
	}
	if d.Before != nil && d.After != nil {
		add(document.Gained, d.After.Fit, d.Before.Fit)
		add(document.Lost, d.Before.Fit, d.After.Fit)
	}
	add(document.Moved, d.Lacks, nil)
	return changes
}

// nodeChanges lists the nodes that fit only before or only after the change.
func (d *Difference) nodeChanges() string {
	var parts []string
	changes := d.changes()
	if gained := changes.Names(document.Gained); len(gained) > 0 {
		parts = append(parts, "gained "+document.Abbreviate(gained))
	}
	if lost := changes.Names(document.Lost); len(lost) > 0 {
		parts = append(parts, "lost "+document.Abbreviate(lost))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d before; %s)", len(d.Before.Fit), strings.Join(parts, "; "))
}

func (d *TenantDifference) section() document.Section {
	s := document.Section{Title: "Tenant " + d.Tenant, Headline: document.Plainly(d.After.String())}
	if d.Before != nil {
		s.Headline = s.Headline.With(" (before: " + d.Before.String() + ")")
	}
	if d.After.Reason != "" {
		s.Linef("AffinityClassesCompliant=False (%s): %s", d.After.Reason, d.After.Message)
	}
	return s
}

// String returns "default ssd, allowed ssd, hdd".
func (s TenantSettings) String() string {
	text := "no default"
	if s.Default != "" {
		text = "default " + s.Default
	}
	switch {
	case !s.Restricted:
		return text + ", every class is allowed"
	case len(s.Allowed) == 0:
		return text + ", no class is allowed"
	default:
		return text + ", allowed " + strings.Join(s.Allowed, ", ")
	}
}
