// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	requestDecisions = counters(hub+"clusterrequest_decisions_total",
		"Decisions on ClusterRequests by outcome: Kept (it has a Grant already), Chosen (it gets a Cluster), Refused (it gets none as things are), "+
			"Recovered (its Grant is made of a Cluster that it has), Adopted or Replaced (a former request of its name had a Grant).", "outcome")

	requestWrites = counters(hub+"clusterrequest_writes_total",
		"Requests that change Clusters, ClusterRequestGrants, ClusterRequests or their status, by kind (Cluster, Grant, Request or Status) and by "+
			"result (ok, error, or outdated: it is retried quietly).", "kind", "result")

	clusterRequests = requestGauge(hub+"clusterrequests",
		"ClusterRequests by status (Granted, Denied or Pending) and reason. Every request that was decided is in one of them.", "status", "reason")
)

// ObserveRequestDecision counts a decision on a ClusterRequest. It is safe for concurrent use.
func ObserveRequestDecision(outcome string) { requestDecisions.WithLabelValues(outcome).Inc() }

// ObserveRequestWrite counts a writing request for a ClusterRequest. It is safe for concurrent use.
func ObserveRequestWrite(kind string, result Result) {
	requestWrites.WithLabelValues(kind, results[result]).Inc()
}

// RequestState is what the gauge counts of one ClusterRequest: its status, and the reason of that, which takes few values. The zero value
// counts nothing.
type RequestState struct{ Status, Reason string }

func (s RequestState) add() {
	if s.Status != "" {
		clusterRequests.WithLabelValues(s.Status, s.Reason).Inc()
	}
}

// RequestStates have the state of each ClusterRequest.
type RequestStates[K comparable] struct{ states[K, RequestState] }

// NewRequestStates returns RequestStates without ClusterRequests that do not lead.
func NewRequestStates[K comparable]() *RequestStates[K] {
	return &RequestStates[K]{newStates[K, RequestState](ofRequests)}
}

var ofRequests = newCollector(nil)

// requestGauge declares a gauge of ofRequests.
func requestGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return ofRequests.gauge(name, help, labels...)
}
