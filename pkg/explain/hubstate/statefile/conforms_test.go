// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// values are those that schemas accept here and there.
var values = []any{
	"", "a", "a.b/c", "Not a name", "true", "1", "5Gi", "2026-01-01T00:00:00Z", "NoSelect", "Additive", "Exists", "Shared", "array", "https://a.b",
	"True",
	int64(0), int64(1), int64(-1), int64(101), int64(1 << 40), 1.5, true, false, nil, []any{}, map[string]any{}, []any{nil},
	map[string]any{"type": "array"},
}

// valueOf draws a value that has the structure of a schema, but for mistakes.
func valueOf(t *rapid.T, of *structuralschema.Structural) any {
	if rapid.IntRange(0, 24).Draw(t, "mistake") == 0 {
		return rapid.SampledFrom(values).Draw(t, "any")
	}
	if of.ValueValidation != nil && len(of.ValueValidation.Enum) > 0 {
		return rapid.SampledFrom(of.ValueValidation.Enum).Draw(t, "enum").Object
	}
	scalars := func(wanted func(any) bool) any {
		return rapid.SampledFrom(slices.Collect(func(yield func(any) bool) {
			for _, value := range values {
				if wanted(value) && !yield(value) {
					return
				}
			}
		})).Draw(t, "scalar")
	}
	switch of.Type {
	case "object":
		return fieldsDrawn(t, of)
	case "array":
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, valueOf(t, of.Items))
		}
		return list
	case "string":
		return scalars(func(value any) bool { _, is := value.(string); return is })
	case "boolean":
		return scalars(func(value any) bool { _, is := value.(bool); return is })
	default:
		return scalars(func(value any) bool { _, is := value.(int64); return is })
	}
}

func fieldsDrawn(t *rapid.T, of *structuralschema.Structural) map[string]any {
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		one := of.Properties[name]
		required := of.ValueValidation != nil && slices.Contains(of.ValueValidation.Required, name)
		if most := rapid.IntRange(0, 9).Draw(t, "present"); most < 4 || required && most < 9 {
			fields[name] = valueOf(t, &one)
		}
	}
	if rapid.IntRange(0, 24).Draw(t, "unknown") == 0 {
		fields["unknown"] = "a"
	}
	if of.AdditionalProperties != nil && of.AdditionalProperties.Structural != nil {
		fields["a"] = valueOf(t, of.AdditionalProperties.Structural)
	}
	return fields
}

// The check that is fast finds what the validator of the API server does.
func TestConformingObjectsAreValid(t *testing.T) {
	definitions, err := newDefinitions(definitionsOfHub(t))
	if err != nil {
		t.Fatal(err)
	}
	kinds := slices.SortedFunc(maps.Keys(definitions), func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
	})
	conforming := map[string]int{}
	property.CheckTimes(t, 4000, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		of, is := definitions[kind].(*definition)
		if !is {
			t.Fatalf("%s has no schema", kind)
		}
		object := fieldsDrawn(t, of.structural)
		object[metadataKey] = map[string]any{"name": "a"}
		if of.shape().conformsObject(object) {
			conforming[kind.Kind]++
		}
		sorted := func(findings []finding) []finding {
			return slices.SortedFunc(slices.Values(findings), func(a, b finding) int {
				return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.text, b.text))
			})
		}
		slowly := sorted(of.validateSlowly(runtime.DeepCopyJSON(object)))
		if findings := sorted(of.validate(runtime.DeepCopyJSON(object))); !slices.Equal(findings, slowly) {
			t.Fatalf("%v has the findings %v, and the validator says %v", object, findings, slowly)
		}
	})
	if len(conforming) < len(kinds)/2 {
		t.Errorf("of %d kinds, objects of %v conformed", len(kinds), conforming)
	}
}

// Objects as they are on most hubs conform.
func TestUsualObjectsConform(t *testing.T) {
	definitions, err := newDefinitions(definitionsOfHub(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{
		clusterHead + "metadata: {name: a, labels: {region: eu}}\nspec: {hubAcceptsClient: true, leaseDurationSeconds: 60, taints: " +
			"[{key: a, effect: NoSelect, timeAdded: '2026-01-01T00:00:00Z'}]}\nstatus: {capacity: {cpu: '4', memory: 5Gi}, allocatable: {cpu: 3}, " +
			"version: {kubernetes: v1.31.0}, clusterClaims: [{name: a, value: b}], conditions: [{type: Available, status: 'True', reason: A, " +
			"message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n",
		placementHead + "metadata: {name: a, namespace: b}\nspec: {numberOfClusters: 3, predicates: [{requiredClusterSelector: {labelSelector: " +
			"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}}]}\n",
	} {
		documents := splitDocuments("file", []byte(content))
		value, problems := documents[0].parse()
		object, is := value.(map[string]any)
		if !is || len(problems) > 0 {
			t.Fatal(problems)
		}
		of, is := definitions[(&unstructured.Unstructured{Object: object}).GroupVersionKind()].(*definition)
		if !is || !of.shape().conformsObject(object) {
			t.Errorf("does not conform: %s", content)
		}
	}
}
