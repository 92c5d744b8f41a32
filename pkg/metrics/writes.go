// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// writeBuckets range from a nearby API server to a request that times out, in seconds.
var writeBuckets = []float64{1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

const requests = "by kind (create, update_decisions, update_metadata, touch and delete a PlacementDecision, or status of a Placement; touch " +
	"changes nothing but the resourceVersion) and by result (ok, error, or outdated: it is retried quietly)"

var (
	writes = counters(hub+"writes_total", "Requests that change PlacementDecisions or the status of Placements, "+requests+".", "kind", "result")

	writeDurations = histograms(hub+"write_duration_seconds", "How long the requests of "+hub+"writes_total took, in seconds.",
		writeBuckets, "kind", "result")

	// Events counts Kubernetes events by result: written, failed or dropped.
	Events = counters(hub+"events_total",
		"Kubernetes events about placements and pod scheduling policies: written, failed, or dropped because too many waited.", "result")

	changes = counters(hub+"decision_changes_total",
		"Clusters that decisions gained or lost, or that were moved to another page, where that was really written.", "change")

	gained, lost, moved = changes.WithLabelValues("gained"), changes.WithLabelValues("lost"), changes.WithLabelValues("moved")
)

// Result is the result of a request.
type Result uint8

// The values of Result.
const (
	WriteOK Result = iota
	WriteOutdated
	WriteError
)

var results = [...]string{"ok", "outdated", "error"}

// request has the series of one kind of requests, by Result.
type request struct {
	count    [len(results)]prometheus.Counter
	duration [len(results)]prometheus.Observer
}

var written sync.Map // of *request by kind

// ObserveWrite records a writing request of a kind, and its duration. It is safe for concurrent use.
func ObserveWrite(kind string, result Result, d time.Duration) {
	of, found := written.Load(kind)
	if !found {
		of, _ = written.LoadOrStore(kind, newRequest(kind))
	}
	if r, ok := of.(*request); ok {
		r.count[result].Inc()
		r.duration[result].Observe(d.Seconds())
	}
}

func newRequest(kind string) *request {
	r := &request{}
	for result, word := range results {
		r.count[result], r.duration[result] = writes.WithLabelValues(kind, word), writeDurations.WithLabelValues(kind, word)
	}
	return r
}

// Moved counts clusters that the written pages of a Placement gained or lost, or that moved to another page.
func Moved(clustersGained, clustersLost, clustersMoved int) {
	gained.Add(float64(clustersGained))
	lost.Add(float64(clustersLost))
	moved.Add(float64(clustersMoved))
}
