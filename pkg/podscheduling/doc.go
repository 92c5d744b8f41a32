// SPDX-License-Identifier: Apache-2.0

// Package podscheduling has the constraints of Pods on nodes (Constraints) and what can be done with them: Validate by the rules of the
// API server, Inject into the pod spec of a workload, and Verify that a Pod has them.
//
// A pod scheduling policy (Policy) is injected: docs/spec/pod-scheduling-policy.md. The patch adds to five fields of the pod spec and to
// nothing else, is computed from the raw JSON of the object, so that fields unknown to the Go types survive, and never removes or
// overwrites anything of the workload. Injecting twice is injecting once.
//
// The node selector of an AffinityClass is verified: docs/spec/affinity-class.md 1.4.
//
// The package is pure: it imports no client, reads no clock, and logs nothing. What it skips it returns as data (Skip); metrics, warnings
// and events are the callers'. Its values are safe for concurrent use once built; nothing in it is changed after it was returned.
package podscheduling
