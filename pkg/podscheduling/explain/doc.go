// SPDX-License-Identifier: Apache-2.0

// Package explain explains where Pods may run: which pod scheduling policies apply to a Pod or pod template, which AffinityClass it belongs to
// and whether it satisfies that, and which nodes fit (docs/spec/pod-scheduling-policy.md, docs/spec/affinity-class.md 1.4).
//
// Objects are the inputs: policies, classes, Tenants, Namespaces and Nodes. An Evaluator is compiled from them once, and evaluates any
// number of workloads. It runs the code of the webhooks: podscheduling.Inject decides what the policies add, and affinityclass.CheckPod whether a
// Pod is refused. Nodes are filtered as kube-scheduler's plugins NodeUnschedulable, NodeName, TaintToleration and NodeAffinity do, with the
// texts of its FailedScheduling events.
//
// A Report and a Difference are plain data with stable JSON names. They are sorted, so that equal inputs have equal outputs.
//
// The package writes nothing, talks to no API server and reads no clock. Owners and applications, which are read one by one, it asks of
// functions that the caller gives.
package explain
