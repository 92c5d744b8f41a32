// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

func TestWhatIfSummary(t *testing.T) {
	for _, tc := range []struct {
		summary explain.WhatIfSummary
		want    string
	}{
		{
			explain.WhatIfSummary{Losing: 4, Lost: 12, Gaining: 2, Gained: 3, Unchanged: 14},
			"4 placements lose 12 clusters, 2 gain 3; 14 do not change",
		},
		{explain.WhatIfSummary{Gaining: 1, Gained: 1}, "1 placement gains 1 cluster"},
		{
			explain.WhatIfSummary{Gaining: 2, Gained: 3, Moving: 1, Moved: 2, Unchanged: 1},
			"2 placements gain 3 clusters, 1 moves 2 clusters to another group; 1 does not change",
		},
		{
			explain.WhatIfSummary{Moving: 2, Moved: 2, Unsatisfied: 2, Later: 1},
			"2 placements move 2 clusters to another group; 2 are satisfied no more; 1 may change later",
		},
		{
			explain.WhatIfSummary{Later: 3, Stalled: 1},
			"no placement gains or loses a cluster; 3 may change later; 1 is stalled and keeps its last decisions",
		},
		{explain.WhatIfSummary{}, "no placement gains or loses a cluster"},
	} {
		if got := tc.summary.String(); got != tc.want {
			t.Errorf("summary is %q, want %q", got, tc.want)
		}
	}
}
