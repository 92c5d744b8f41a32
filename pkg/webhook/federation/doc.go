// Package federation has the admission handler of federated objects and of the Namespaces that take part. It warns of annotations that the
// hub cannot parse, that have no effect, or that look like those of package federation but are not: docs/spec/federated-selector.md 3.1.4.
//
// Promises: the handler admits every request, so that a GitOps tool is never stuck; what it cannot read it admits as well. It answers from
// the review alone: it reads nothing, writes nothing and calls nothing. The texts are those of the Events of the controller.
package federation
