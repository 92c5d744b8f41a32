// Package selector compiles requirements on clusters, and matches them against ClusterInfos.
//
// A Selector is the conjunction of clauses over the name, labels, claims and CEL expressions. It is immutable and safe for concurrent use.
// It returns the properties that it reads, and for a cluster that it does not match the first clause that failed and the value that the
// cluster has instead. The state of one evaluation (the time, the CEL budget, the time at which its results can change) is in an
// EvalContext.
//
// CEL expressions see a ManagedCluster without metadata.resourceVersion and metadata.managedFields: a change of these alone re-evaluates no
// placement, so no decision may depend on them.
//
// Compile reports mistakes in a requirement with the path of the field, the value and the rule, whether or not there are clusters
// (docs/spec/differences.md A6). Matching never fails: a cluster on which a CEL expression cannot be evaluated does not match, and its
// Verdict has the error (docs/spec/differences.md C2).
package selector
