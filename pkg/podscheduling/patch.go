// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Operation is an operation of an RFC 6902 patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Patch encodes the operations; nil if there are none.
func (r *Result) Patch() ([]byte, error) {
	if len(r.Operations) == 0 {
		return nil, nil
	}
	patch, err := json.Marshal(r.Operations)
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return patch, nil
}

// pointerEscaper escapes a member name for a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// additions returns the operations that make one object of another that has at least its members, at a path. Members in their order by
// name; a list that was only appended to gets its new items, and any other one is replaced as a whole.
func additions(path string, before, after map[string]any) []Operation {
	var operations []Operation
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, value, at := before[name], after[name], path+"/"+pointerEscaper.Replace(name)
		switch oldObject, isObject := old.(map[string]any); {
		case old == nil && value != nil:
			operations = append(operations, Operation{Op: "add", Path: at, Value: value})
		case isObject:
			object, _ := value.(map[string]any) // An object is only ever replaced by a copy with more members.
			operations = append(operations, additions(at, oldObject, object)...)
		default:
			operations = append(operations, change(at, old, value)...)
		}
	}

	return operations
}

// change returns the operations that make one value of another that is no object.
func change(path string, old, value any) []Operation {
	before, _ := old.([]any)
	after, isList := value.([]any)
	if !isList || len(after) < len(before) || !reflect.DeepEqual(before, after[:len(before)]) {
		if reflect.DeepEqual(old, value) {
			return nil
		}
		return []Operation{{Op: "replace", Path: path, Value: value}}
	}
	var operations []Operation
	for _, item := range after[len(before):] {
		operations = append(operations, Operation{Op: "add", Path: path + "/-", Value: item})
	}

	return operations
}
