// SPDX-License-Identifier: Apache-2.0

// Package debug serves the current result of a Placement over HTTP: the endpoint of the upstream controller
// (docs/spec/upstream-placement.md 1.17), with a verdict for each cluster.
//
//	GET  /debug/placements/<namespace>/<name>   a Placement as it is on the hub
//	POST /debug/placements/...                  the Placement in the body; its decisions on the hub are the incumbents
//
// The parameter api=placement.open-cluster-management.io selects the Placements of that API group.
//
// It promises: the caller is authorized before any lookup, so that existing and missing Placements are refused alike; errors of a Placement
// name field, value and rule, as in explain.Report; equal requests on equal states have equal bytes as response. The caller mounts the
// handler behind authentication: a request without a user in its context is refused.
//
// It never writes, and never responds with a result before the caches of the hub are in sync.
package debug
