// SPDX-License-Identifier: Apache-2.0

// Package federation has the rules of objects that are delivered to many clusters: docs/spec/federated-selector.md.
//
// Evaluate is the one pipeline: the controller carries its Evaluation out, and explanations display it. Evaluation.Plan has the writes,
// Evaluation.Outcome says which of the withdrawals may happen now, and Evaluation.Deletion what is left to do for an object that is being
// deleted.
//
// Of the parts of the pipeline, Choose returns the Target of an object from its annotations and those of its Namespace, and Target.Request
// asks the scheduler for the clusters. PlanReplicas distributes the replicas of a workload over the selected clusters. NewPayload makes the
// copy of an object that members get, and Payload.Work the ManifestWork of one cluster. PlanWorks compares the wanted works with those that
// exist, and orders the writes so that clusters gain before others lose. Dependencies are the objects that a workload names.
//
// The package is pure: it imports no client, reads no clock, and logs nothing. Its results do not depend on the order of clusters or maps,
// and share no memory with its arguments where a comment does not say so.
package federation
