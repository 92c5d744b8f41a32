// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// TestAStuckEvaluationFailsTheLivenessCheck checks that the check fails only while an evaluation runs longer than its limits permit.
func TestAStuckEvaluationFailsTheLivenessCheck(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	running := metrics.NewRunning(now)
	check := checkEvaluations(running)
	end := running.Begin()
	now.SetTime(time.Unix(0, 0).Add(stuckAfter))
	if err := check(nil); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	now.SetTime(time.Unix(0, 1).Add(stuckAfter))
	if err := check(nil); err == nil {
		t.Error("after the limit: alive")
	}
	end()
	if err := check(nil); err != nil {
		t.Errorf("after the evaluation: %v", err)
	}
}
