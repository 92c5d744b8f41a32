// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// ReadObjects returns the board of a sample without a table of its own: the objects of some kinds, with the conditions in their status.
func ReadObjects(ctx context.Context, hub client.Reader, kinds []schema.GroupVersionKind) (*document.Board, error) {
	b := &document.Board{Empty: "no objects yet", Table: document.Table{Columns: []string{"NAMESPACE/KIND/NAME", "CONDITIONS"}}}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := hub.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing the objects of kind %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			row, err := newObjectRow(&list.Items[i])
			if err != nil {
				return nil, err
			}
			b.Table.Rows = append(b.Table.Rows, row)
		}
	}
	b.Sort()
	b.Summary = document.Count(len(b.Table.Rows), "object")
	return b, nil
}

// newObjectRow reads the conditions of an object. The message of the first one that is not true is below its row.
func newObjectRow(object *unstructured.Unstructured) (document.Row, error) {
	name := strings.TrimPrefix(object.GetNamespace()+"/"+strings.ToLower(object.GetKind())+"/"+object.GetName(), "/")
	var read struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read); err != nil {
		return document.Row{}, fmt.Errorf("reading the conditions of %s: %w", name, err)
	}
	states := make([]string, 0, len(read.Status.Conditions))
	message := ""
	for _, condition := range read.Status.Conditions {
		states = append(states, condition.Type+"="+string(condition.Status))
		if condition.Status != metav1.ConditionTrue {
			message = cmp.Or(message, document.Labelled(condition.Reason, condition.Message))
		}
	}
	row := document.NewRow(name, document.OrNone(strings.Join(states, ", ")))
	row.Name = name
	if message != "" {
		row.Details = []string{message}
	}
	if len(states) == 0 {
		row.Unsettled = name + ": its status has no conditions yet"
	}
	return row, nil
}
