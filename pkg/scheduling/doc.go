// Package scheduling answers "which clusters should this run on?" as a pure function: Schedule(Request, Snapshot, now) -> Result.
//
// A Request is a placement's question in the hub's own terms. Each API that asks for clusters lowers into it in one file (lower_*.go);
// nothing behind that file knows which API asked. The stages are, in this order: scope (the sets bound and asked for), predicates,
// taints, prioritizers, anti-affinity (of the clusters with one value of a key the best ranked one goes on), and the count with its
// spread constraints. The Result says for every cluster that exists whether it was selected or which stage kept it out, and it can tell
// the exact clause on demand.
//
// Same input, same output, whatever the order of clusters or maps: ties are broken by score, then by name. A Request with a mistake in
// it, or one that needs a set whose selector is broken, has no answer: its Result is Held, and who writes decisions keeps the last
// good ones (docs/spec/differences.md A1, A4).
//
// There are two engines with one answer. Schedule finds the clusters that pass by the indexes of the snapshot, ranks only as many as are
// wanted, and leaves for later what nobody has asked for. Reference looks at every cluster in the plain way; it is what Schedule is compared
// with (Difference), in tests and while the hub runs, and what explains an answer cluster by cluster. What both find is judged by the same
// rules, which stand once: taints, prioritizers, anti-affinity and spreading.
package scheduling
