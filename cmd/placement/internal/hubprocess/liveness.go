// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"fmt"
	"net/http"
	"time"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// stuckAfter is how long an evaluation may run before the process counts as stuck. The limits of CEL end an evaluation within seconds.
const stuckAfter = 5 * time.Minute

// checkEvaluations returns a liveness check that fails while an evaluation runs far longer than its limits permit, so that the kubelet
// restarts the process and another leads.
func checkEvaluations(running *metrics.Running) func(*http.Request) error {
	return func(*http.Request) error {
		if longest := running.Longest(); longest > stuckAfter {
			return fmt.Errorf("an evaluation of a Placement has been running for %s, longer than %s", longest.Round(time.Second), stuckAfter)
		}
		return nil
	}
}
