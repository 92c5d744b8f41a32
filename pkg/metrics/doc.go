// SPDX-License-Identifier: Apache-2.0

// Package metrics declares every time series of the hub, by subject: the series of the upstream controller, enqueues and latencies, writes,
// the state of Placements, and the scheduler. Series of the upstream controller keep their names; ours begin with placement_hub_.
//
// Promises: a constructor of this package declares every series, registers it, and keeps its help for the table in docs/metrics.md. No
// label has the name of a Placement, a ManagedCluster, a namespace or anything else that a user chooses. Series that change with every
// event or evaluation have their labels resolved once, and allocate nothing.
package metrics

//go:generate go run ./internal/table -in ../../docs/metrics.md
