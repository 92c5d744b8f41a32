// SPDX-License-Identifier: Apache-2.0

// Package webhook has the admission handlers for ManagedClusters: the defaults of clusters and taints, and the one rule that reads another
// object.
//
// Policies of the API server need no server, and the hub uses them wherever it can. Here they do not suffice: CEL in admission has no
// clock, so it cannot set the time at which a taint is added; MutatingAdmissionPolicy is served by default only from Kubernetes 1.36 on,
// and the hub supports 1.33; and a ManagedCluster must not be accepted while its namespace is terminating, which is the state of another
// object.
//
// Promises: the response is a JSON patch of exactly the changes, never the whole object, so that fields which this version does not know
// stay as they are. A ManagedCluster that is being deleted gets no patch, so that nothing delays its deletion. A denial says what to do.
//
// The handlers write nothing, and read only the namespace of a ManagedCluster that is being accepted. They implement
// docs/spec/upstream-placement.md 2.1 and 2.2, under the upstream paths.
//
// The package is below pkg/system, which serves the handlers and renews their certificates (pkg/hub/webhookserver/certificates).
package webhook
