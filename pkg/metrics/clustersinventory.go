package metrics

var (
	inventoryWrites = counters(hub+"clusters_inventory_writes_total",
		"Requests of the controller clusters-inventory by kind (create, patch, status, delete, or the finalizer of a Cluster) and by result (ok, "+
			"error, or outdated: it is retried quietly).", "kind", "result")

	drains = counters(hub+"clusters_inventory_drains_total",
		"ManagedClusters of Clusters that were deleted, by result: drained, or timeout where something still used them.", "result")

	drained, drainTimeouts = drains.WithLabelValues("drained"), drains.WithLabelValues("timeout")
)

// ObserveInventoryWrite counts a request of the controller clusters-inventory. It is safe for concurrent use.
func ObserveInventoryWrite(kind string, result Result) {
	inventoryWrites.WithLabelValues(kind, results[result]).Inc()
}

// ObserveDrain counts a ManagedCluster that was deleted, while something used it if the drain has timed out. It is safe for concurrent use.
func ObserveDrain(timedOut bool) {
	if timedOut {
		drainTimeouts.Inc()
	} else {
		drained.Inc()
	}
}
