// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"testing"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

func TestCountExceeds(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		count   removalbudget.Count
		percent int
		want    bool
	}{
		{"no cluster leaves", removalbudget.Count{Total: 10}, 0, false},
		{"as many as the percentage permits", removalbudget.Count{Now: 3, Total: 10}, 30, false},
		{"one more", removalbudget.Count{Now: 4, Total: 10}, 30, true},
		{"those that have left count with them", removalbudget.Count{Past: 3, Now: 1, Total: 10}, 30, true},
		{"one cluster may always leave", removalbudget.Count{Now: 1, Total: 1}, 1, false},
		{"unless none may", removalbudget.Count{Now: 1, Total: 10}, 0, true},
		{"within the window only one", removalbudget.Count{Past: 1, Now: 1, Total: 2}, 99, true},
		{"all may leave without a limit", removalbudget.Count{Now: 10, Total: 10}, removalbudget.NoLimit, false},
		{"the percentage refers to nothing", removalbudget.Count{Now: 2}, 50, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := tc.count.Exceeds(tc.percent); got != tc.want {
				t.Errorf("%s, %d %%: got %v, want %v", tc.count, tc.percent, got, tc.want)
			}
		})
	}
}
