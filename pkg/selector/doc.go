// Package selector compiles a requirement on clusters once and matches it against the Facts of many.
//
// A Selector is the conjunction of clauses over the name, labels, claims and CEL expressions. It promises to be immutable and safe for
// concurrent use, to name the facts it Reads, and to say of a cluster that it does not match which clause failed and what was found
// instead. What belongs to one evaluation and not to the selector (the time, the CEL budget, the next time the answer can change) is in
// a Pass.
//
// CEL expressions see a ManagedCluster without metadata.resourceVersion and metadata.managedFields: a change of these alone re-evaluates
// no placement, so no decision may depend on them.
//
// A mistake in a requirement is reported by Compile with the path of the field, the value and the rule, whether or not there is a cluster
// to try it on (docs/spec/differences.md A6). Matching itself never fails: a CEL expression that cannot be evaluated makes that cluster not
// match, and its verdict says so (docs/spec/differences.md C2).
package selector
