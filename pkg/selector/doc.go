// SPDX-License-Identifier: Apache-2.0

// Package selector compiles requirements on clusters, and matches them against ClusterInfos.
//
// A Selector is the conjunction of clauses over the name, labels, claims and CEL expressions. It is immutable and safe for concurrent use.
// It returns the properties that it reads, and for a cluster that it does not match the first clause that failed and the value that the
// cluster has instead. The state of one evaluation (the time, the CEL budget, the time at which its results can change) is in an
// EvalContext.
//
// An evaluation of a CEL expression ends by its cost, the bytes that it builds or its context, and never by a clock, and leaves no goroutine
// behind. Nodes of the program charge a meter before they build or walk a value (docs/spec/differences.md C2): weights of nodes in
// celweights.go, calls in celcharges.go, walks in celwalk.go, regular expressions in celregex.go. Compile refuses expressions that grow
// whatever the cluster is (celgrowth.go). An expression that reads a few labels alone keeps its results by their values (celmemo.go).
//
// CEL expressions see a ManagedCluster without metadata.resourceVersion and metadata.managedFields: a change of these alone re-evaluates no
// placement, so no decision may depend on them.
//
// Compile reports mistakes in a requirement with the path of the field, the value and the rule, whether or not there are clusters
// (docs/spec/differences.md A6). Matching never fails: a cluster on which a CEL expression cannot be evaluated does not match, and its
// Verdict has the error (docs/spec/differences.md C2).
package selector
