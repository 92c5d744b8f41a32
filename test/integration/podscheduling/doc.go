// SPDX-License-Identifier: Apache-2.0

// Package podscheduling holds the specs of pod scheduling policies: the scenarios of docs/spec/pod-scheduling-policy.md on a real API server
// with the controllers of workloads and kube-scheduler.
package podscheduling
