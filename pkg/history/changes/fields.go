// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/pkg/history"
)

// lastApplied is what client-side apply writes about itself.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// specField is the field that people write.
const specField = "spec"

// placement adds the changes of the spec, the labels and the annotations of a Placement.
func (c *collector) placement(before, after metav1.Object, from, to any) {
	c.fields(before, after, from, to)
	was, is := before.GetAnnotations(), after.GetAnnotations()
	for _, key := range keysOf(was, is) {
		if key != lastApplied {
			c.value(lookup(was, key), lookup(is, key), metadataOf("annotations", "annotation ", key))
		}
	}
	was, is = before.GetLabels(), after.GetLabels()
	for _, key := range keysOf(was, is) {
		c.value(lookup(was, key), lookup(is, key), metadataOf("labels", "label ", key))
	}
}

// metadataOf returns the Change of an annotation or a label.
func metadataOf(field, what, key string) Change {
	return Change{
		Cause: history.Cause{Field: "metadata." + field + "[" + key + "]", What: what + key}, path: []string{"metadata", field, key},
	}
}

// fields adds the changes of a spec, if the generation says that there are some. Lists are compared as a whole.
func (c *collector) fields(before, after metav1.Object, from, to any) {
	if before.GetGeneration() == after.GetGeneration() && before.GetGeneration() != 0 {
		return
	}
	was, errWas := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	is, errIs := runtime.DefaultUnstructuredConverter.ToUnstructured(to)
	if errWas != nil || errIs != nil {
		c.add(Change{Cause: history.Cause{Action: history.Changed, Field: specField, What: specField}, path: []string{specField}})
		return
	}
	c.trees(was, is, []string{specField})
}

// trees adds the differences of two objects in JSON.
func (c *collector) trees(before, after map[string]any, path []string) {
	for _, key := range keysOf(before, after) {
		was, is := before[key], after[key]
		if reflect.DeepEqual(was, is) {
			continue
		}
		at := append(append([]string{}, path...), key)
		inner, wasMap := was.(map[string]any)
		outer, isMap := is.(map[string]any)
		if wasMap && isMap {
			c.trees(inner, outer, at)
			continue
		}
		name := strings.Join(at, ".")
		c.value(text(was), text(is), Change{Cause: history.Cause{Field: name, What: name}, path: at})
	}
}

// text returns a value in JSON, and a text without quotes; nil for none.
func text(value any) *string {
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		return &value
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil // Values of objects are JSON.
	}
	text := string(encoded)
	return &text
}
