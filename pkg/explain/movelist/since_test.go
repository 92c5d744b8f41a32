// SPDX-License-Identifier: Apache-2.0

package movelist

import (
	"testing"
	"time"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"24h": now.Add(-24 * time.Hour), "90m": now.Add(-90 * time.Minute), "2026-01-30T00:00:00Z": now.Add(-36 * time.Hour),
	} {
		if got, err := ParseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
