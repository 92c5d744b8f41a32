// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Objects is the Source of a sample without a table of its own: the objects of some kinds, with the conditions in their status. It reads them
// from the API server twice a second, because it is made for the few objects of a sample.
type Objects struct {
	Client client.Client
	Kinds  []schema.GroupVersionKind
}

// Changed returns a channel that is closed when it is time to read again.
func (o *Objects) Changed() <-chan struct{} {
	due := make(chan struct{})
	time.AfterFunc(federatedInterval, func() { close(due) })
	return due
}

func (o *Objects) read(ctx context.Context) (content, error) {
	table := &objectsTable{}
	for _, kind := range o.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := o.Client.List(ctx, list); err != nil {
			return nil, fmt.Errorf("reading what the table shows: %w", err)
		}
		for i := range list.Items {
			row, err := newObjectRow(&list.Items[i])
			if err != nil {
				return nil, err
			}
			table.rows = append(table.rows, row)
		}
	}
	slices.SortFunc(table.rows, func(a, b objectRow) int { return strings.Compare(a.title, b.title) })
	return table, nil
}

// objectsTable is a list of objects.
type objectsTable struct{ rows []objectRow }

// objectRow is an object. Its state is empty while its status has none.
type objectRow struct{ title, state, message string }

// newObjectRow reads the conditions of an object.
func newObjectRow(object *unstructured.Unstructured) (objectRow, error) {
	row := objectRow{title: strings.TrimPrefix(object.GetNamespace()+"/"+strings.ToLower(object.GetKind())+"/"+object.GetName(), "/")}
	var read struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read); err != nil {
		return row, fmt.Errorf("reading the conditions of %s: %w", row.title, err)
	}
	states := make([]string, 0, len(read.Status.Conditions))
	for _, condition := range read.Status.Conditions {
		states = append(states, condition.Type+"="+string(condition.Status))
		if condition.Status != metav1.ConditionTrue {
			row.message = cmp.Or(row.message, labelled(condition.Reason, condition.Message))
		}
	}
	row.state = strings.Join(states, ", ")
	return row, nil
}

func (t *objectsTable) summary() string { return document.Count(len(t.rows), "object") }

// body renders the objects, with the message of a condition that is not true below its row.
func (t *objectsTable) body() []string {
	rows := make([][]string, 0, 1+len(t.rows))
	rows = append(rows, []string{"NAMESPACE/KIND/NAME", "CONDITIONS"})
	for _, row := range t.rows {
		rows = append(rows, []string{row.title, cmp.Or(row.state, noDelivery)})
	}
	var lines []string
	for i, line := range aligned(rows) {
		lines = append(lines, line)
		if i > 0 && t.rows[i-1].message != "" {
			lines = append(lines, columnGap+t.rows[i-1].message)
		}
	}
	if len(t.rows) == 0 {
		lines = append(lines, "no objects yet")
	}
	return lines
}

func (t *objectsTable) changes() []change {
	changes := make([]change, 0, len(t.rows))
	for _, row := range t.rows {
		line := row.title + columnGap + cmp.Or(row.state, noDelivery)
		if row.message != "" {
			line += columnGap + "(" + row.message + ")"
		}
		changes = append(changes, change{title: row.title, line: line, unsettled: row.state == ""})
	}
	return changes
}

func (t *objectsTable) pending() []string {
	var pending []string
	for _, row := range t.rows {
		if row.state == "" {
			pending = append(pending, row.title+": its status has no conditions yet")
		}
	}
	return pending
}

// version is the table itself: whatever it does not show does not count as a change.
func (t *objectsTable) version() string { return strings.Join(t.body(), "\n") }
