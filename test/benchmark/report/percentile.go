// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"
	"time"
)

// Percentile is the smallest sample that at least p of 100 samples are not above: an observed value, never one in between. It is 0 without
// samples.
func Percentile(samples []time.Duration, p float64) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
