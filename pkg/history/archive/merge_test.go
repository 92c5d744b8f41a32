// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/history"
)

// TestHI14Merge: what was stored wins up to its latest row of an object, and what a process has beyond it is missing.
func TestHI14Merge(t *testing.T) {
	derived := func(namespace string, number int) *history.Move {
		of := row(namespace, number, 1)
		of.Derived = true
		return of
	}
	recreated := derived("a", 8)
	recreated.UID = "another"
	for name, tc := range map[string]struct{ stored, own, all, missing []*history.Move }{
		"nothing": {},
		"a first start": {
			own: []*history.Move{row("a", 1, 1)},
			all: []*history.Move{row("a", 1, 1)}, missing: []*history.Move{row("a", 1, 1)},
		},
		"a restart": {
			stored: []*history.Move{row("a", 1, 1), row("b", 2, 1)},
			all:    []*history.Move{row("a", 1, 1), row("b", 2, 1)},
		},
		"a standby has the same rows, derived": {
			stored: []*history.Move{row("a", 1, 1), row("a", 3, 1)}, own: []*history.Move{derived("a", 1), derived("a", 3)},
			all: []*history.Move{row("a", 1, 1), row("a", 3, 1)},
		},
		"a standby has cut the writes into other rows": {
			stored: []*history.Move{row("a", 3, 1)}, own: []*history.Move{derived("a", 2), derived("a", 3)},
			all: []*history.Move{row("a", 3, 1)},
		},
		"the leader was killed before its last write": {
			stored: []*history.Move{row("a", 3, 1)}, own: []*history.Move{derived("b", 2), derived("a", 3), derived("a", 5)},
			all: []*history.Move{derived("b", 2), row("a", 3, 1), derived("a", 5)}, missing: []*history.Move{derived("b", 2), derived("a", 5)},
		},
		"rows that were stored and have gone since": {
			stored: []*history.Move{row("b", 5000, 1)}, own: []*history.Move{row("a", 1, 1), row("b", 5000, 1)},
			all: []*history.Move{row("a", 1, 1), row("b", 5000, 1)},
		},
		"an object of the same name that was made anew": {
			stored: []*history.Move{row("a", 9, 1)}, own: []*history.Move{recreated},
			all: []*history.Move{recreated, row("a", 9, 1)}, missing: []*history.Move{recreated},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, missing := Merge(tc.stored, tc.own)
			if diff := cmp.Diff(tc.all, all); diff != "" {
				t.Errorf("all rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.missing, missing); diff != "" {
				t.Errorf("missing rows (-want +got):\n%s", diff)
			}
		})
	}
}
