// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// The removal of what is in one map and not in another leaves exactly the other, if all common leaves are equal.
func TestSurplusLeavesWhatIsWanted(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		wanted := tree(3).Draw(t, "wanted")
		present := merged(wanted, tree(3).Draw(t, "extra"))
		left := applyMerge(present, surplus(present, wanted))
		got, want := encode(t, left), encode(t, wanted)
		if got != want {
			t.Fatalf("left %s of %s, want %s", got, encode(t, present), want)
		}
	})
}

// A null for all labels or all values would remove what others own.
func TestARemovalNamesNothingElse(t *testing.T) {
	for _, tc := range []struct {
		labels, values map[string]any
		want           string
	}{
		{nil, nil, `{"metadata":{"resourceVersion":"1"}}`},
		{map[string]any{"a": nil}, nil, `{"metadata":{"labels":{"a":null},"resourceVersion":"1"}}`},
		{nil, map[string]any{"a": nil}, `{"metadata":{"resourceVersion":"1"},"spec":{"values":{"a":null}}}`},
	} {
		patch, err := json.Marshal(removal("1", tc.labels, tc.values))
		if err != nil || string(patch) != tc.want {
			t.Errorf("patch %s, %v, want %s", patch, err, tc.want)
		}
	}
}

// tree returns a generator of maps of texts and maps.
func tree(depth int) *rapid.Generator[map[string]any] {
	value := rapid.Map(rapid.SampledFrom([]string{"x", "y"}), func(text string) any { return text })
	if depth > 0 {
		value = rapid.OneOf(value, rapid.Map(rapid.Deferred(func() *rapid.Generator[map[string]any] { return tree(depth - 1) }),
			func(inner map[string]any) any { return inner }))
	}
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), value, 0, 3)
}

// merged returns a map with the leaves of one map and what another one has besides.
func merged(wanted, extra map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, extra)
	for key, value := range wanted {
		inner, isMap := value.(map[string]any)
		more, areMaps := all[key].(map[string]any)
		if isMap && areMaps {
			all[key] = merged(inner, more)
		} else {
			all[key] = value
		}
	}

	return all
}

// applyMerge applies a JSON merge patch.
func applyMerge(to, patch map[string]any) map[string]any {
	result := map[string]any{}
	maps.Copy(result, to)
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		switch present, areMaps := result[key].(map[string]any); {
		case value == nil:
			delete(result, key)
		case isMap && areMaps:
			result[key] = applyMerge(present, inner)
		default:
			result[key] = value
		}
	}

	return result
}

func encode(t *rapid.T, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
