// SPDX-License-Identifier: Apache-2.0

package unreadable

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Annotation lists the unreadable fields of an object in the memory of the hub.
	Annotation = "placement-hub.open-cluster-management.io/unreadable"
	// Taint is the key of the taint that Placements see on a ManagedCluster with unreadable fields.
	Taint = "placement-hub.open-cluster-management.io/unreadable"
)

// Field is a field that could not be decoded.
type Field struct {
	// Path is the path of the field: "status.allocatable.cpu", "spec.taints[0].timeAdded".
	Path string `json:"path"`
	// Value is the JSON of the field, cut to a bounded length.
	Value string `json:"value"`
	// Problem is the error of the decoder, cut to a bounded length.
	Problem string `json:"problem"`
}

// String returns "status.allocatable.cpu: Invalid value: "1e1.5": quantities must match ...".
func (f Field) String() string { return f.Path + ": Invalid value: " + f.Value + ": " + f.Problem }

// Text returns the value without the quotes of a JSON string.
func (f Field) Text() string {
	var text string
	if err := json.Unmarshal([]byte(f.Value), &text); err != nil {
		return f.Value // Not a JSON string, or cut.
	}
	return text
}

// Fields are the unreadable fields of an object in the order of their paths.
type Fields []Field

// Under returns the fields at or below a path.
func (f Fields) Under(path string) Fields {
	var under Fields
	for _, field := range f {
		if rest, within := strings.CutPrefix(field.Path, path); within && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			under = append(under, field)
		}
	}
	return under
}

// maxNamed is the greatest number of fields that String names.
const maxNamed = 3

// String names the first fields and counts the others. It is empty without fields.
func (f Fields) String() string {
	texts := make([]string, 0, maxNamed+1)
	for _, field := range f[:min(maxNamed, len(f))] {
		texts = append(texts, field.String())
	}
	if more := len(f) - maxNamed; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// Of returns the unreadable fields of an object; nil if it was decoded completely. An annotation that is not a mark counts as an unreadable
// field.
func Of(object metav1.Object) Fields {
	text, marked := object.GetAnnotations()[Annotation]
	if !marked {
		return nil
	}
	var fields Fields
	if err := json.Unmarshal([]byte(text), &fields); err != nil || len(fields) == 0 {
		return Fields{{Path: "metadata.annotations[" + Annotation + "]", Value: text, Problem: "is kept for the hub"}}
	}
	return fields
}

// Mark sets the annotation for the fields, sorted by path. It returns an error if a field cannot be encoded.
func Mark(object metav1.Object, fields Fields) error {
	sorted := slices.SortedFunc(slices.Values(fields), func(a, b Field) int { return strings.Compare(a.Path, b.Path) })

	text, err := json.Marshal(sorted)
	if err != nil {
		return fmt.Errorf("noting the unreadable fields of %s: %w", object.GetName(), err)
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = make(map[string]string, 1)
	}
	annotations[Annotation] = string(text)
	object.SetAnnotations(annotations)
	return nil
}

// Unmark removes the annotation, which a client may have set on the API server.
func Unmark(object metav1.Object) {
	annotations := object.GetAnnotations()
	if _, marked := annotations[Annotation]; !marked {
		return
	}
	delete(annotations, Annotation)
	if len(annotations) == 0 {
		object.SetAnnotations(nil)
	}
}

// WithoutMark returns annotations without the mark, which no object of an API server has a meaning for.
func WithoutMark(annotations map[string]string) map[string]string {
	if _, marked := annotations[Annotation]; !marked {
		return annotations
	}
	others := maps.Clone(annotations)
	delete(others, Annotation)
	return others
}
