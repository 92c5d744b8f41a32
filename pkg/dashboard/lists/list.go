// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

const (
	// RowsShown is the number of rows of a page of a list.
	RowsShown = 50
	// suggested bounds the values that a field suggests.
	suggested = 100
	// The parameters of a URL for the order of a list and for its first row. An order that begins with descends is from the last to the first.
	orderBy  = "sort"
	firstRow = "from"
	descends = "-"
	mostRows = 1 << 24
)

// Definition says what a list is of, and what it shows.
type Definition struct {
	// Path is that of the page, and One and Many name an object and all.
	Path, One, Many string
	Columns         []Column
	// Filters are the parameters that filter it.
	Filters []string
	// Complete is called with the objects of the page, at most RowsShown, before their cells are made, and may change them; nil for nothing.
	Complete func(shown []Object)
}

// Column is a column of a list.
type Column struct {
	// Key names the order by the column in the URL; empty for a column by which nothing is sorted. Title is its head.
	Key, Title string
	Compare    func(a, b *Object) int
	Cell       func(o *Object) Cell
}

// Cell is a cell of a list.
type Cell struct {
	// Label is the title of the column, which a narrow screen shows beside each cell.
	Label string
	Text  string
	Link  string
	// Kind is the class of the cell, and State says that the text is shown as a chip.
	Kind  string
	State bool
	Tone  document.Tone
	// Small is behind the text, Chips are values, and Time is a time; nothing if they are empty.
	Small string
	Chips []string
	Time  time.Time
}

// Head is the head of a column. Link sorts by it, and Order is "ascending" or "descending" while the list is sorted by it.
type Head struct{ Title, Link, Order string }

// Field is a field of the form that filters the list.
type Field struct {
	Name, Label, Value, Placeholder string
	// Options are the values among which one chooses, and Suggested those that a field for text suggests.
	Options   []Option
	Suggested []string
	// Problem says what is wrong with the value; empty for nothing.
	Problem string
}

// Option is a value of a field.
type Option struct {
	Value, Text string
	Selected    bool
}

// List is a page of a list.
type List struct {
	Definition

	Heads  []Head
	Rows   [][]Cell
	Fields []Field
	States []Count
	// Objects are those of the page.
	Objects []Object
	// Total is the number of all objects, Matching that of those that the filters leave, From the first one of the page, from 0, and To the one after
	// the last.
	Total, Matching, From, To int
	Previous, Next            string
	// Clear is the URL of the list without filters; empty while there are none. Cause is the one of the objects, and kept by the form.
	Clear, Cause string
	// Where is " in namespace NAME" for a list that counts no others; empty for one that counts all that the caller may read.
	Where string
	// Empty says why the list has no object at all, and Notes what else is not in it.
	Empty string
	Notes []string
}

// First is the number of the first row, from 1.
func (l *List) First() int { return l.From + 1 }

// Hidden is the number of objects that the filters hide.
func (l *List) Hidden() int { return l.Total - l.Matching }

// More counts the objects after those of the page.
func (l *List) More() int { return l.Matching - l.To }

// Off says that the system that has the objects is off, if why is not empty. Objects may have stayed.
func (l *List) Off(why string) {
	switch {
	case why == "":
	case l.Total == 0:
		l.Empty = why
	default:
		l.Notes = append(l.Notes, why)
	}
}

// New returns the page of a list that the parameters of a URL ask for.
func New(d Definition, asked url.Values, objects []Object) *List {
	l := &List{Definition: d, Total: len(objects), Cause: asked.Get(ByCause)}
	wanted, mistake := newFilter(asked, d.Filters)
	matching := slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return !wanted.matches(&o) })
	if slices.Contains(d.Filters, ByState) { // Other objects have no states.
		l.States = CountStates(matching)
	}
	for i := range l.States {
		each := &l.States[i]
		each.Current = each.State == wanted.state
		state := each.State
		if each.Current {
			state = ""
		}
		each.Link = l.with(asked, ByState, state)
	}
	if wanted.state != "" {
		matching = slices.DeleteFunc(matching, func(o Object) bool { return o.State != wanted.state })
	}
	if mistake != nil {
		matching = nil
	}
	l.sort(matching, asked)
	l.Matching = len(matching)
	l.page(matching, asked)
	l.fields(asked, objects, mistake)
	return l
}

// with returns the URL of the list with another value of a parameter, from its first row on; an empty value removes it.
func (l *List) with(asked url.Values, parameter, value string) string {
	values := url.Values{}
	for key, given := range asked {
		if key != firstRow && key != parameter && len(given) > 0 && given[0] != "" {
			values.Set(key, given[0])
		}
	}
	if value != "" {
		values.Set(parameter, value)
	}
	if len(values) == 0 {
		return l.Path
	}
	return l.Path + "?" + values.Encode()
}

// sort sorts the objects as the URL asks for, and makes the heads of the columns.
func (l *List) sort(objects []Object, asked url.Values) {
	key, down := strings.CutPrefix(asked.Get(orderBy), descends)
	for _, column := range l.Columns {
		head := Head{Title: column.Title}
		switch {
		case column.Key == "":
		case column.Key != key:
			head.Link = l.with(asked, orderBy, column.Key)
		case down:
			head.Order, head.Link = "descending", l.with(asked, orderBy, key)
			slices.SortStableFunc(objects, func(a, b Object) int { return column.Compare(&b, &a) })
		default:
			head.Order, head.Link = "ascending", l.with(asked, orderBy, descends+key)
			slices.SortStableFunc(objects, func(a, b Object) int { return column.Compare(&a, &b) })
		}
		l.Heads = append(l.Heads, head)
	}
}

// page selects the rows of the page.
func (l *List) page(objects []Object, asked url.Values) {
	from, err := strconv.Atoi(asked.Get(firstRow))
	if err != nil || from < 0 || from >= len(objects) || from > mostRows {
		from = 0
	}
	l.From, l.To = from, min(from+RowsShown, len(objects))
	l.Objects = objects[l.From:l.To]
	if l.To < len(objects) {
		l.Next = l.with(asked, firstRow, strconv.Itoa(l.To))
	}
	if from > 0 {
		l.Previous = l.with(asked, firstRow, "")
		if before := from - RowsShown; before > 0 {
			l.Previous = l.with(asked, firstRow, strconv.Itoa(before))
		}
	}
	if l.Complete != nil && len(l.Objects) > 0 {
		l.Complete(l.Objects)
	}
	for i := range l.Objects {
		cells := make([]Cell, 0, len(l.Columns))
		for _, column := range l.Columns {
			cell := column.Cell(&l.Objects[i])
			cell.Label = column.Title
			cells = append(cells, cell)
		}
		l.Rows = append(l.Rows, cells)
	}
}

// fields makes the form, which has the values of the URL again.
func (l *List) fields(asked url.Values, objects []Object, mistake error) {
	filtered := l.Cause != ""
	for _, parameter := range l.Filters {
		field := Field{Name: parameter, Value: asked.Get(parameter)}
		filtered = filtered || field.Value != ""
		switch parameter {
		case ByName:
			field.Label = "Name"
		case ByNamespace:
			field.Label, field.Placeholder = "Namespace", "all that you may read"
			field.Suggested = valuesOf(objects, func(o *Object) []string { return []string{o.Namespace} })
		case BySet:
			field.Label = "Set"
			field.Suggested = valuesOf(objects, func(o *Object) []string { return o.Sets })
		case ByKind:
			field.Label = "Kind"
			field.Options = optionsOf(field.Value, valuesOf(objects, func(o *Object) []string { return []string{o.Kind} }))
		case ByState:
			field.Label = "State"
			field.Options = optionsOf(field.Value, valuesOf(objects, func(o *Object) []string { return []string{o.State} }))
		case ByLabel:
			field.Label, field.Placeholder = "Label", "region=eu"
			if mistake != nil {
				field.Problem = mistake.Error()
			}
		}
		l.Fields = append(l.Fields, field)
	}
	first := "namespace and name"
	if !slices.Contains(l.Filters, ByNamespace) { // The objects have none.
		first = "name"
	}
	order := Field{Name: orderBy, Label: "Sort by", Options: []Option{{Text: first, Selected: asked.Get(orderBy) == ""}}}
	for _, column := range l.Columns {
		if column.Key == "" {
			continue
		}
		for _, each := range []Option{
			{Value: column.Key, Text: strings.ToLower(column.Title)},
			{Value: descends + column.Key, Text: strings.ToLower(column.Title) + ", last first"},
		} {
			each.Selected = each.Value == asked.Get(orderBy)
			order.Options = append(order.Options, each)
		}
	}
	l.Fields = append(l.Fields, order)
	if filtered {
		l.Clear = l.Path
	}
}

// valuesOf returns the first values that objects have, sorted.
func valuesOf(objects []Object, of func(o *Object) []string) []string {
	seen := map[string]bool{}
	var values []string
	for i := range objects {
		for _, value := range of(&objects[i]) {
			if value != "" && !seen[value] {
				seen[value] = true
				values = append(values, value)
			}
		}
	}
	slices.Sort(values)
	return values[:min(len(values), suggested)]
}

// optionsOf returns the options of a field; the value of the URL is one of them, whether an object has it or not.
func optionsOf(value string, values []string) []Option {
	if value != "" && !slices.Contains(values, value) {
		values = append(values, value)
	}
	options := make([]Option, 0, len(values)+1)
	options = append(options, Option{Text: "all", Selected: value == ""})
	for _, each := range values {
		options = append(options, Option{Value: each, Text: each, Selected: each == value})
	}
	return options
}
