// SPDX-License-Identifier: Apache-2.0

// Package controller has the controller podscheduling/webhook, which injects pod scheduling policies at admission and validates them: it
// connects the handlers of pkg/podscheduling/webhook to the caches of a manager and to an event writer; and the controller
// podscheduling/limits, which writes the condition WithinLimits of PodSchedulingPolicies.
//
// Promises: every replica answers, the leader or not, and writes the Events about what it skipped. The leader writes the condition, by what
// the policies of one namespace say and the code that injects them, and only where it changes. Neither controller creates, changes or
// deletes a policy otherwise, or a workload.
package controller
