// SPDX-License-Identifier: Apache-2.0

// Package conformance checks producers and consumers of the PlacementDecisions of multicluster.x-k8s.io/v1alpha1, which SIG Multicluster defines.
//
// Check is pure: it takes the slices of one decision and returns what is wrong with them. A Suite runs the rules that need an API server:
// TestCRD checks the definitions, TestProducer drives a scheduler by a Driver and records every state of its slices, and TestConsumer writes slices
// and asks a ConsumerDriver which clusters are served. Rules has all rules with their levels.
//
// The suite has the API server for itself: each slice that appears while a producer is tested counts as its own. It creates namespaces that begin
// with "conformance-", and deletes what it has created there. A rule that a driver cannot reach is skipped: the report names it, and a level with a
// skipped rule is not conformant.
package conformance
