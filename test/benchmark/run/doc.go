// SPDX-License-Identifier: Apache-2.0

// Command run measures the hub on a real kube-apiserver and etcd, which it starts itself: bin/placement as a process of its own, beside
// what zero cost of evaluation would reach on the same machine in the same run. docs/benchmark.md explains the scenarios and figures.
//
// It fails when a decision differs from the reference, or when more was written than needed. A time is never a reason to fail.
package main
