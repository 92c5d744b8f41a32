// SPDX-License-Identifier: Apache-2.0

// Package webhook has the admission handler of federated objects and of the Namespaces that take part. It warns of annotations that the
// hub cannot parse, that have no effect, or that look like those of package federation but are not (docs/spec/federated-selector.md 3.1.4), of
// label keys that no cluster in scope has, of Placements that do not exist, and of changes that withdraw an object from clusters
// (docs/spec/trust.md 7.2).
//
// Promises: the handler admits every request, so that a GitOps tool is never stuck; what it cannot read it admits as well, and it warns of
// clusters only while the caches are complete. It evaluates objects by the rules of the controller, reads caches alone, and writes nothing: a
// dry run gets the same answer. Few reviews evaluate clusters at the same time; one that has no turn within a second warns of none.
package webhook
