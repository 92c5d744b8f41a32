// Package benchmark measures the controllers on a real kube-apiserver and etcd. Nothing here asserts a time: a benchmark fails only when
// what it counts is wrong, say a write more than needed. Figures to compare are counts and ratios to the floor, which is what a bare
// client that sends the same writes reaches on the same machine in the same run.
//
// make bench runs all of it.
package benchmark
