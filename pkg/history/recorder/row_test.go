// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"slices"
	"strconv"
	"testing"
	"unsafe"
)

func TestNamesAreKeptOnce(t *testing.T) {
	known := &names{limit: 10 * (nameSize + 4)}
	row := func(clusters ...string) []string {
		set := map[string]bool{}
		for _, cluster := range clusters {
			set[cluster] = true
		}
		return known.without(set, map[string]bool{"c2": true})
	}
	first, second := row("c3", "c1", "c2"), row("c1", "c4")
	if !slices.Equal(first, []string{"c1", "c3"}) || !slices.Equal(second, []string{"c1", "c4"}) {
		t.Errorf("got %q and %q", first, second)
	}
	if unsafe.StringData(first[0]) != unsafe.StringData(second[0]) {
		t.Error("c1 is kept twice")
	}
	if left := row("c2"); left != nil {
		t.Errorf("got %q of no cluster", left)
	}

	for i := range 100 {
		known.keep("n" + strconv.Itoa(i))
		if known.bytes > known.limit || len(known.known) > 10 {
			t.Fatalf("%d names of %d bytes are known", len(known.known), known.bytes)
		}
	}
}
