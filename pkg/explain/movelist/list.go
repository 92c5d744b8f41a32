// SPDX-License-Identifier: Apache-2.0

package movelist

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// List are rows of a history, oldest first. Its JSON names are stable.
type List struct {
	Now metav1.Time `json:"now"`
	// Namespace is that of the rows; empty for all.
	Namespace string         `json:"namespace,omitempty"`
	Moves     []history.Move `json:"moves"`
	// More reports that earlier rows are left out, because there are too many.
	More bool `json:"more,omitempty"`
	// Derived reports that a standby has answered.
	Derived bool `json:"derived,omitempty"`
}

// derivedNote says what the rows of a standby lack.
const derivedNote = "note: a standby has answered: the causes of its rows are the changes that it has seen, and it knows no reasons of an evaluation"

// Document implements document.Source: a line for each row, with the reasons of the evaluation below it if it is wide. Its names are the objects.
func (l List) Document(o document.Options) document.Document {
	var d document.Document
	for i := range l.Moves {
		move := &l.Moves[i]
		name := NameOf(move)
		section := document.Section{
			Headline: document.Text{
				{Text: l.clock(move.Time) + " "}, {Text: name, Tone: document.Strong}, {Text: " " + document.OneLine(move.Sentence())},
			},
			Joined: i > 0,
		}
		if o.Wide {
			for _, reason := range move.Reasons {
				section.Linef("%s: %s", reason.Cluster, document.OneLine(reason.Text))
			}
			for _, cause := range move.Causes {
				section.Linef("%s %s", l.clock(cause.Time), document.OneLine(cause.Sentence()))
			}
			if move.Derived {
				section.Linef("causes as seen by a standby")
			}
		}
		d.Add(section)
		d.Namef("%s", name)
	}
	if len(l.Moves) == 0 {
		d.Add(document.Section{Headline: document.Plainly("no clusters were gained or lost, as far as the hub remembers")})
	}
	if l.More {
		d.Note("note: there are earlier rows; name a Placement or a time with --since")
	}
	if l.Derived {
		d.Note(derivedNote)
	}
	return d
}

// NameOf returns "team-a/p" for a Placement, with its API group if that is not v1beta1's, and "team-a/web@deployment.apps" for another object.
func NameOf(move *history.Move) string {
	switch {
	case move.Kind != "Placement":
		return document.QualifiedObject(move.Namespace, move.Name, move.Kind, move.Group)
	case move.Group == string(inventory.V1beta1):
		return document.QualifiedName(move.Namespace+"/"+move.Name, "")
	default:
		return document.QualifiedName(move.Namespace+"/"+move.Name, move.Group)
	}
}

// clock returns a time in UTC, without the day if that is today.
func (l List) clock(at time.Time) string {
	at, now := at.UTC(), l.Now.UTC()
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}
