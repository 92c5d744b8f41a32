// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/test/surface"
)

// The program in testdata/example brings strings to its function Use in every way that is followed. What is not followed is Unknown, not absent.
func TestValuesAreFollowedToConstants(t *testing.T) {
	example, err := surface.Load(t.Context(), ".", "./testdata/example")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, use := range example.Calls(func(name string) bool { return strings.HasSuffix(name, "/example.Use") }) {
		found = append(found, use.Arguments[0]...)
	}

	want := []string{
		surface.Unknown, "a", "appended", "assigned", "b", "default", "element", "false", "field", "first", "generic", "instance", "literal",
		"loop", "map-key", "map-value", "pair-0", "parameter", "second", "sum-pair-1", "true",
	}
	if diff := cmp.Diff(want, slices.Compact(slices.Sorted(slices.Values(found)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
