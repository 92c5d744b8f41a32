// SPDX-License-Identifier: Apache-2.0

// Package webhook has the admission handlers of pod scheduling policies: one injects the constraints of PodSchedulingPolicies and
// ClusterPodSchedulingPolicies into pod templates and Pods, the other one validates policies. Both implement
// docs/spec/pod-scheduling-policy.md; the rules themselves are in pkg/podscheduling.
//
// Promises: the mutating handler allows every request. It answers with a patch of the five fields that policies have, or without a patch
// when nothing changes or something fails; then the message and a warning say why. What a policy wants and does not get is a warning to the
// user, an Event on the policy, and counted in placement_hub_podscheduling_skips_total; a dry run writes no Event.
//
// Reviews are answered from the informer cache (Source), with one read from the API server for a namespace that the cache does not have
// yet. While the cache cannot be filled, policies and namespaces are read from the API server. Policies are compiled when they change, never
// in a review.
//
// pkg/podscheduling/controller connects the handlers to a manager.
package webhook
