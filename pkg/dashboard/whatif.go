// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// drainField is the name of the field that drains a cluster, whose value is drainValue. The others have a taint, a label or a claim.
const (
	drainField = "drain"
	drainValue = "true"
	taintField = "taint"
	labelField = "label"
	claimField = "claim"
)

// whatIfField is a field of the form with changes of a cluster, as it was sent.
type whatIfField struct {
	Name, Label, Placeholder, Value string
	// Problem says what is wrong with the value, in the words of the form; empty for nothing.
	Problem string

	parse func(string) (whatif.Change, error)
}

// whatIfPart is the part of the page of a cluster with the form and what the changes would do.
type whatIfPart struct {
	Drain  bool
	Fields []whatIfField
	// Changes describe the changes; empty for none.
	Changes string
	// Problem says why there is no result, and Summary counts what would differ.
	Problem, Summary string
	Rows             []whatIfRow
	// RowsMore counts the rows that are not shown, which the page All has, and Notes is what else the result says.
	RowsMore int
	All      string
	Notes    []string
	// Close is the page without changes.
	Close string

	changes []whatif.Change
	most    int // rows
}

// whatIfRow is what changes would do to a Placement or to a delivered object.
type whatIfRow struct {
	Kind, Name, Link string
	Lost, Gained     []chip
	Kept             int
	// Why are the reasons, and Notes what else is to know about the Placement or the object.
	Why, Notes []string
}

// maxWhatIfRows bounds the rows of a page with all of them.
const maxWhatIfRows = 1000

// whatIfForm returns the form with the values of the URL.
func whatIfForm(v *visit, cluster string) *whatIfPart {
	form := &whatIfPart{Drain: v.query(drainField) != "", Close: v.request.URL.Path + "#whatif", Fields: []whatIfField{
		{Name: taintField, Label: "Taint", Placeholder: "gpu=a100:NoSelect, or gpu- to remove it", parse: whatif.ParseTaint},
		{Name: labelField, Label: "Label", Placeholder: "region=eu, or region- to remove it", parse: whatif.ParseLabel},
		{Name: claimField, Label: "Claim", Placeholder: "version=1.30, or version- to remove it", parse: whatif.ParseClaim},
	}}
	if form.most, form.All = lists.RowsShown, v.with("rows", allRows)+"#whatif"; v.query("rows") == allRows {
		form.most, form.All = maxWhatIfRows, ""
	}
	described := make([]string, 0, len(form.Fields)+1)
	if form.Drain {
		form.changes = append(form.changes, whatif.Drain{Cluster: cluster})
	}
	for i := range form.Fields {
		field := &form.Fields[i]
		field.Value = strings.TrimSpace(v.query(field.Name))
		if field.Value == "" {
			continue
		}
		change, err := field.parse(cluster + ":" + field.Value)
		if err != nil {
			field.Problem = "Write it as " + field.Placeholder + "."
			continue
		}
		form.changes = append(form.changes, change)
	}
	for _, change := range form.changes {
		described = append(described, change.String())
	}
	form.Changes = strings.Join(described, ", ")
	return form
}

// asked reports whether the form was sent with anything in it.
func (p *whatIfPart) asked() bool {
	return p.Drain || slices.ContainsFunc(p.Fields, func(field whatIfField) bool { return field.Value != "" })
}

// mistaken reports whether a field has a mistake.
func (p *whatIfPart) mistaken() bool {
	return slices.ContainsFunc(p.Fields, func(field whatIfField) bool { return field.Problem != "" })
}

// code returns the status code of the page: 0 unless a field has a mistake.
func (p *whatIfPart) code() int {
	if p.mistaken() {
		return http.StatusBadRequest
	}
	return 0
}

// blame finds the fields whose changes the hub refuses, and says why below them.
func (p *whatIfPart) blame(state *explain.State, now time.Time, cluster string) {
	for i := range p.Fields {
		field := &p.Fields[i]
		if field.Value == "" {
			continue
		}
		change, err := field.parse(cluster + ":" + field.Value)
		if err != nil {
			continue
		}
		if _, err := whatif.Apply(state, now, change); err != nil {
			field.Problem = strings.TrimPrefix(err.Error(), change.String()+": ")
		}
	}
}

// simulate adds what changes of the cluster would do to placements and to delivered objects.
func (c *clusterReport) simulate(ctx context.Context, v *visit, state *explain.State, form *whatIfPart) error {
	ctx, cancel := context.WithTimeout(ctx, whatIfTimeout)
	defer cancel()
	settings := v.hub.Settings()
	if err := hubstate.AddFederated(ctx, v.reader(), state, v.namespace(), settings.Delivered); err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	state.Federated.Limit = settings.Limit
	state.Done = ctx.Done()
	after, err := whatif.Apply(state, v.now, form.changes...)
	if err != nil {
		form.blame(state, v.now, c.Name)
		if !form.mistaken() {
			form.Problem = err.Error()
		}
		c.Problem = err.Error()
		return nil
	}
	result := explain.NewWhatIf(state, after, nil, v.now).WithObjects(state, after, func(key inventory.Key) bool {
		return v.namespace() == "" || key.Namespace == v.namespace()
	}, v.now)
	if ctx.Err() != nil {
		c.Problem = fmt.Sprintf("the what-if took longer than %s; choose a namespace, or use placement simulate", whatIfTimeout)
		form.Problem = c.Problem
		return nil
	}
	for _, change := range form.changes {
		result.Changes = append(result.Changes, change.String())
	}
	c.WhatIf = &result
	form.show(&result)
	return nil
}

// show makes the table of a result.
func (p *whatIfPart) show(result *explain.WhatIf) {
	p.Summary = result.Summary.String()
	for i := range result.Placements {
		difference := &result.Placements[i]
		row := whatIfRow{
			Kind: itemPlacement, Name: difference.Placement, Link: differenceLink(difference.Placement, difference.API), Kept: len(difference.Kept),
		}
		row.list(difference.Changes())
		if difference.Stalled != "" {
			row.Why = append(row.Why, difference.Stalled)
		}
		if difference.ChangesAt != nil {
			row.Why = append(row.Why, "may change by itself at "+difference.ChangesAt.UTC().Format(time.RFC3339))
		}
		row.Notes = difference.Notes
		p.Rows = append(p.Rows, row)
	}
	for _, stalled := range result.Stalled {
		p.Rows = append(p.Rows, whatIfRow{
			Kind: itemPlacement, Name: document.Title(stalled.Placement, stalled.API), Link: differenceLink(stalled.Placement, stalled.API),
			Why: []string{"the decisions stay: " + stalled.Reason},
		})
	}
	for i := range result.Objects {
		p.Rows = append(p.Rows, objectRow(&result.Objects[i]))
	}
	p.Notes = result.ObjectNotes
	if most := p.most; len(p.Rows) > most {
		p.RowsMore, p.Rows = len(p.Rows)-most, p.Rows[:most]
	}
	for i := range p.Rows {
		p.Rows[i].bound()
	}
}

// objectRow returns what changes would do to a delivered object.
func objectRow(difference *federated.Difference) whatIfRow {
	kind := schema.GroupKind{Group: difference.Group, Kind: difference.Kind}.String()
	row := whatIfRow{
		Kind: kind, Name: difference.Namespace + "/" + difference.Name, Kept: difference.Kept,
		Link: link([]string{objectsPath, difference.Namespace, kind, difference.Name}),
	}
	row.list(difference.Changes())
	if difference.RemovalHeld != "" {
		row.Why = append(row.Why, difference.RemovalHeld)
	}
	row.Notes = difference.Notes
	return row
}

// list adds the changes of an object, those first by which clusters lose it.
func (r *whatIfRow) list(changes document.Changes) {
	for _, mark := range []string{document.Lost, document.Gained, document.Moved, document.Held} {
		for i := range changes {
			if changes[i].Mark == mark {
				r.add(&changes[i])
			}
		}
	}
}

func (r *whatIfRow) add(change *document.Change) {
	cluster := chip{Text: change.Name, Link: link([]string{clustersPath, change.Name})}
	why := change.Why()
	switch change.Mark {
	case document.Lost:
		cluster.Tone = document.Bad
		r.Lost = append(r.Lost, cluster)
	case document.Gained:
		cluster.Tone = document.Good
		r.Gained = append(r.Gained, cluster)
	case document.Held:
		why = "stays: " + why
	}
	r.explain(change.Name, why)
}

// explain adds why a cluster comes or goes.
func (r *whatIfRow) explain(cluster, reason string) {
	if reason != "" {
		r.Why = append(r.Why, cluster+": "+reason)
	}
}

// namedInRow bounds the clusters and the reasons of a row.
const namedInRow = 10

// bound keeps the row readable when it has hundreds of clusters.
func (r *whatIfRow) bound() {
	for _, chips := range []*[]chip{&r.Lost, &r.Gained} {
		if more := moreThan(len(*chips), namedInRow); more != "" {
			*chips = append((*chips)[:namedInRow:namedInRow], chip{Text: more})
		}
	}
	if more := moreThan(len(r.Why), namedInRow); more != "" {
		r.Why = append(r.Why[:namedInRow:namedInRow], more)
	}
}

// differenceLink returns the URL of a Placement by its qualified name and API, which is empty for v1beta1.
func differenceLink(placement, version string) string {
	namespace, name, _ := strings.Cut(placement, "/")
	return link([]string{placementsPath, namespace, name}, "api", version)
}
