// SPDX-License-Identifier: Apache-2.0

// Package benchmark counts what bindings from RBAC cost on a real kube-apiserver and etcd: make bench-bindings. Nothing here asserts a
// time: a benchmark fails only when what it counts is wrong, say a write more than needed. Figures to compare are counts and ratios to the
// floor, which is what a bare client that sends the same writes reaches on the same machine in the same run.
//
// What placements and the other systems cost is measured through the built binary, by the programs and packages below: run is make bench,
// ideal and precomputed are what it compares the hub with, fleet, deliveries, admission, requests and hostile have the objects, and report
// prints the figures.
package benchmark
