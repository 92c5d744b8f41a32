// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// DifferencesDocument returns a summary, and each object with its clusters. Its names are "namespace/name@kind +cluster" for each gained cluster,
// and "-cluster" for each lost one.
func DifferencesDocument(differences []Difference, summary *Summary, notes []string) document.Document {
	d := document.Document{Sections: []document.Section{{Headline: document.Plainly(summary.String())}}}
	for i := range differences {
		difference := &differences[i]
		d.Add(difference.section())
		name := document.QualifiedObject(difference.Namespace, difference.Name, difference.Kind, difference.Group)
		d.Changes(name, difference.Changes())
	}
	d.Note(notes...)
	return d
}

// String returns "withdraws 12 objects, 2 of them Deployments with 9 replicas; delivers 3 objects newly".
func (s *Summary) String() string {
	var parts []string
	if s.Losing > 0 {
		var text strings.Builder
		text.WriteString("withdraws " + document.Count(s.Losing, "object"))
		if s.Lost > s.Losing {
			fmt.Fprintf(&text, " (%d copies)", s.Lost)
		}
		for _, workload := range s.Workloads {
			noun := "a " + workload.Kind
			if workload.Objects != 1 {
				noun = workload.Kind + "s"
			}
			fmt.Fprintf(&text, ", %d of them %s with %s", workload.Objects, noun, document.Count(int(workload.Replicas), "replica"))
		}
		parts = append(parts, text.String())
	}
	if s.Gaining > 0 {
		text := "delivers " + document.Count(s.Gaining, "object") + " newly"
		if s.Gained > s.Gaining {
			text += fmt.Sprintf(" (%d copies)", s.Gained)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		parts = append(parts, "no object is withdrawn or newly delivered")
	}
	if s.Held > 0 {
		parts = append(parts, "the withdrawal of "+document.Count(s.Held, "object")+" would be held")
	}
	if s.Stopped > 0 {
		parts = append(parts, document.Count(s.Stopped, "object")+" would be held as it is")
	}
	return strings.Join(parts, "; ")
}

func (d Difference) section() document.Section {
	s := document.Section{Title: d.Object, Headline: document.Plainly(d.headline())}
	if d.New {
		s.Title += " (new)"
	}
	if d.Message != "" {
		s.Linef("%s", d.Message)
	}
	if d.RemovalHeld != "" {
		s.Linef("%s: %s", federation.ReasonRemovalHeld, d.RemovalHeld)
	}
	s.Lines(d.Notes)
	s.Changes(d.Changes(), d.Kept, nil)
	return s
}

func (d Difference) headline() string {
	if federation.State(d.State) != federation.Delivering {
		return strings.ToLower(d.State) + ", " + keepers(d.Kept)
	}
	return d.Changes().Summary(d.Kept, document.OfKept(len(d.Held), "held"), document.OfKept(d.Updated, "updated"))
}

// Changes are the clusters that lose the object, those in which it is held, and those that gain it.
func (d Difference) Changes() document.Changes {
	changes := make(document.Changes, 0, len(d.Lost)+len(d.Held)+len(d.Gained))
	add := func(mark string, clusters []Change) {
		for _, cluster := range clusters {
			reason := cluster.Reason
			if cluster.Replicas != nil {
				reason += ", " + document.Count(int(*cluster.Replicas), "replica")
			}
			changes = append(changes, document.Change{Mark: mark, Name: cluster.Cluster, Reason: reason, Anyway: cluster.Anyway})
		}
	}
	add(document.Lost, d.Lost)
	add(document.Held, d.Held)
	add(document.Gained, d.Gained)
	return changes
}
