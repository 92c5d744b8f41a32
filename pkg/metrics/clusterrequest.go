package metrics

var (
	requestDecisions = counters(hub+"clusterrequest_decisions_total",
		"Decisions on ClusterRequests by outcome: Kept (it has a Grant already), Chosen (it gets a Cluster), Refused (it gets none as things are), "+
			"Recovered (its Grant is made of a Cluster that it has), Adopted or Replaced (a former request of its name had a Grant).", "outcome")

	requestWrites = counters(hub+"clusterrequest_writes_total",
		"Requests that change Clusters, ClusterRequestGrants, ClusterRequests or their status, by kind (Cluster, Grant, Request or Status) and by "+
			"result (ok, error, or outdated: it is retried quietly).", "kind", "result")
)

// ObserveRequestDecision counts a decision on a ClusterRequest. It is safe for concurrent use.
func ObserveRequestDecision(outcome string) { requestDecisions.WithLabelValues(outcome).Inc() }

// ObserveRequestWrite counts a writing request for a ClusterRequest. It is safe for concurrent use.
func ObserveRequestWrite(kind string, result Result) {
	requestWrites.WithLabelValues(kind, results[result]).Inc()
}
