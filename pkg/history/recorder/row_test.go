// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// The rows of a large hub have thousands of names, and share them with the caches.
func TestRowsKeepNoNameTwice(t *testing.T) {
	c1 := strings.Clone("c1")
	row := func(clusters ...string) []string {
		set := map[string]bool{}
		for _, cluster := range clusters {
			set[cluster] = true
		}
		return without(set, map[string]bool{"c2": true})
	}
	first, second := row("c3", c1, "c2"), row(c1, "c4")
	if !slices.Equal(first, []string{"c1", "c3"}) || !slices.Equal(second, []string{"c1", "c4"}) {
		t.Errorf("got %q and %q", first, second)
	}
	if unsafe.StringData(first[0]) != unsafe.StringData(c1) || unsafe.StringData(second[0]) != unsafe.StringData(c1) {
		t.Error("c1 is kept twice")
	}
	if left := row("c2"); left != nil {
		t.Errorf("got %q of no cluster", left)
	}
}
