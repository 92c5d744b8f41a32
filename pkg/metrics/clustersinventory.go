// SPDX-License-Identifier: Apache-2.0

package metrics

var (
	inventoryWrites = counters(hub+"clusters_inventory_writes_total",
		"Requests of the controller clusters-inventory by kind (create, patch, status, delete, or the finalizer of a Cluster) and by result (ok, "+
			"error, or outdated: it is retried quietly).", "kind", "result")

	drains = counters(hub+"clusters_inventory_drains_total",
		"ManagedClusters of Clusters that were deleted, by result: drained, or timeout where something still used them.", "result")

	drained, drainTimeouts = drains.WithLabelValues("drained"), drains.WithLabelValues("timeout")

	inventorySetDiffers = gauge(hub+"clusters_inventory_set_differs",
		"1 if the ConfigMap placement-hub-clusters-inventory is missing, or names another set than --clusters-inventory-set, so that admission "+
			"asks for rights on the wrong set; 0 otherwise. Only the leader compares.")
)

// SetInventorySetDiffers reports whether admission knows another set of Clusters that name none than the hub. It is safe for concurrent use.
func SetInventorySetDiffers(differs bool) {
	if differs {
		inventorySetDiffers.Set(1)
	} else {
		inventorySetDiffers.Set(0)
	}
}

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
