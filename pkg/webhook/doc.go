// Package webhook is the admission of ManagedClusters that has to be asked over the network: the defaults of clusters and taints, and the
// one rule that looks at another object.
//
// Policies of the API server would need no server of their own, and the hub uses them wherever it can. They cannot do this: CEL in
// admission has no clock, so it cannot say that a taint was added now; MutatingAdmissionPolicy is served by default from Kubernetes 1.36
// on, and the hub supports 1.33; and a cluster must not be accepted while its namespace is terminating, which is a state of another object.
//
// It promises: the answer is a JSON patch of exactly what changes, and never the object written anew, so that fields which this version
// does not know stay as they are; a cluster that is being deleted is never given anything, so that its deletion waits for nobody; a refusal
// says what to do.
//
// It never writes anything, and never asks the API server but for the namespace of a cluster that is being accepted. The answers are given
// to the rules of docs/spec/upstream-placement.md 2.1 and 2.2; the paths are upstream's too.
//
// The room lies below pkg/controller, which serves it and keeps its certificates (pkg/webhook/certificates).
package webhook
