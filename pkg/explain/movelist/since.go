// SPDX-License-Identifier: Apache-2.0

package movelist

import (
	"fmt"
	"time"
)

// ParseSince parses a duration before now, such as 24h, or a time. The error begins with the text.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if duration, err := time.ParseDuration(text); err == nil {
		if duration <= 0 {
			return now, fmt.Errorf("%q is no time that has passed; write it such as 24h", text)
		}
		return now.Add(-duration), nil
	}
	since, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return now, fmt.Errorf("%q is neither a duration such as 24h or 90m nor a time such as 2026-01-31T12:00:00Z", text)
	case since.After(now):
		return now, fmt.Errorf("%q is in the future; write an earlier time, or a duration such as 24h", text)
	default:
		return since, nil
	}
}
