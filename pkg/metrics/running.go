// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

const longestEvaluation = hub + "longest_running_evaluation_seconds"

// Evaluations has the evaluations of Placements that are running.
var Evaluations = declareRunning(longestEvaluation,
	"How long the longest of the evaluations has been running that are running now, in seconds; 0 while none is running. An evaluation ends by "+
		"its limits within seconds; the liveness check evaluations fails after five minutes.")

// Running has the begin of everything of a kind that is running. It is safe for concurrent use.
type Running struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	next  uint64
	begun map[uint64]time.Time
}

// NewRunning returns a Running without entries.
func NewRunning(c clock.PassiveClock) *Running {
	return &Running{clock: c, begun: map[uint64]time.Time{}}
}

func declareRunning(name, help string) *Running {
	r := NewRunning(clock.RealClock{})
	declare(Series{Name: name, Type: typeGauge, Help: help}, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return r.Longest().Seconds() }))
	return r
}

// Begin adds an entry, and returns the function that removes it.
func (r *Running) Begin() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.next
	r.next++
	r.begun[id] = r.clock.Now()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.begun, id)
	}
}

// Longest returns how long the longest entry has been there; 0 if there is none.
func (r *Running) Longest() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	longest := time.Duration(0)
	for _, begun := range r.begun {
		longest = max(longest, r.clock.Since(begun))
	}
	return longest
}
