// SPDX-License-Identifier: Apache-2.0

// Package scheduling selects clusters as a pure function: Schedule(Request, Snapshot, incumbents, now) -> Result.
//
// A Request is a Placement in terms that do not depend on its API: pkg/placement/api converts each API to it, in one file for each
// (convert_*.go), and pkg/federation makes Requests of annotations. Filters and prioritizers are plugins: one file (filter_*.go,
// prioritizer_*.go) and one line in the tables of plugins.go. A plugin has its name, what it reads, its function and the texts of its
// rejections; dependencies, validation, metrics and reasons follow from the tables. The filters are, in this order: scope (the bound and
// selected sets), termination, predicates and taints before the prioritizers rank the clusters, and anti-affinity (the best ranked cluster
// of each value of a key remains), spread constraints and the number of clusters after. The Result has for every existing cluster the
// filter that rejected it, or that it was selected, and computes the exact clause on demand.
//
// The Result does not depend on the order of clusters, maps or calls: ties are broken by score, then by name. A Request with a validation
// error, or with a set in scope whose selector is broken, has the Outcome Invalid; the writer of the decisions keeps the last good
// ones (docs/spec/differences.md A1, A4).
//
// Schedule finds feasible clusters by the indexes of the Snapshot, ranks only as many as are wanted, and computes the rest of the Result
// when it is read. Reference evaluates every cluster with the naive algorithm. It is the oracle of Schedule (Difference), in tests and
// while the hub runs, and computes the verdicts of each Result. Both share the code of taints, prioritizers, anti-affinity and spreading.
package scheduling
