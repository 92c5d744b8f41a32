// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// evaluable reports whether this process could evaluate Placements; nil while nothing runs.
var evaluable atomic.Pointer[func() bool]

const evaluationReady = hub + "evaluation_ready"

const evaluationReadyHelp = "Whether this process could evaluate Placements if it led (1) or not (0): its caches are in sync and its watches open, " +
	"as /readyz/evaluation says."

var _ = declare(Series{Name: evaluationReady, Type: typeGauge, Help: evaluationReadyHelp},
	prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: evaluationReady, Help: evaluationReadyHelp}, func() float64 {
		if ready := evaluable.Load(); ready != nil && (*ready)() {
			return 1
		}
		return 0
	}))

// FollowEvaluation has the readiness of evaluation exported by a function, which is called concurrently for each scrape, until the returned
// function is called.
func FollowEvaluation(ready func() bool) (end func()) {
	evaluable.Store(&ready)
	return func() { evaluable.CompareAndSwap(&ready, nil) }
}
