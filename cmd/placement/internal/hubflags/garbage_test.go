// SPDX-License-Identifier: Apache-2.0

package hubflags

import "testing"

func TestAHeapGrowsByBytesWithinTwoPercentages(t *testing.T) {
	c := &collector{growth: 24 << 20, least: 30}
	for live, want := range map[uint64]int{0: 100, 24 << 20: 100, 32 << 20: 75, 48 << 20: 50, 80 << 20: 30, 1 << 30: 30} {
		if got := c.percentOf(live); got != want {
			t.Errorf("%d MiB live: %d %%, want %d %%", live>>20, got, want)
		}
	}
}
