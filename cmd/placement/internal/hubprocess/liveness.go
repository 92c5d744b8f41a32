// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"fmt"
	"net/http"
	"time"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// StuckAfter is how long an evaluation may run before the process counts as stuck. The limits of CEL end an evaluation within seconds.
const StuckAfter = 5 * time.Minute

// CheckEvaluations returns a liveness check that fails while an evaluation runs far longer than its limits permit, so that the kubelet
// restarts the process and another leads.
func CheckEvaluations(running *metrics.Running) func(*http.Request) error {
	return func(*http.Request) error {
		if longest := running.Longest(); longest > StuckAfter {
			return fmt.Errorf("an evaluation of a Placement has been running for %s, longer than %s", longest.Round(time.Second), StuckAfter)
		}
		return nil
	}
}
