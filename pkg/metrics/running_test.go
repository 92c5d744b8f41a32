// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestLongestIsOfWhatRuns checks that the longest entry counts while it is there.
func TestLongestIsOfWhatRuns(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	r := NewRunning(now)

	expect := func(reason string, want time.Duration) {
		t.Helper()
		if got := r.Longest(); got != want {
			t.Errorf("%s: %v, want %v", reason, got, want)
		}
	}
	expect("nothing runs", 0)
	first := r.Begin()
	now.SetTime(time.Unix(60, 0))
	second := r.Begin()

	now.SetTime(time.Unix(90, 0))
	expect("the first is longer", 90*time.Second)
	first()
	expect("the second is left", 30*time.Second)
	second()
	expect("nothing is left", 0)
}
