// SPDX-License-Identifier: Apache-2.0

// Package explain explains where objects of the hub are delivered: docs/spec/federated-selector.md.
//
// An Evaluator runs federation.Evaluate, the pipeline of the controller, for all Objects at once: first for the workloads, whose clusters their
// dependencies follow, then for the dependencies, then for the workloads again, which tell what they miss. An Evaluation has the writes that
// the controller would send. NewReport turns one into plain data with stable JSON names, and Differences compares those of two States.
//
// There is no second copy of any rule here: the verdict on a cluster is that of scheduling.Result, the writes are those of federation.WorkPlan,
// and what is withdrawn that of federation.Withdrawal. What only the controller remembers is not known: how long a cluster has been out of scope,
// and what was withdrawn shortly before.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package explain
