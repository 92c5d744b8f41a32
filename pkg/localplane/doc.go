// SPDX-License-Identifier: Apache-2.0

// Package localplane starts a real control plane on loopback: etcd, kube-apiserver and, optionally, kube-controller-manager and
// kube-scheduler, for `placement run` and for tests.
//
// The API server runs as in production where that matters to a client: TLS with a certificate authority of its own, client certificates and
// ServiceAccount tokens as identities, RBAC, and the default admission plugins (including ValidatingAdmissionPolicy and, where served by
// default, MutatingAdmissionPolicy).
//
// Promises:
//
//   - Start returns when the API server is ready, its default namespace exists, and the controllers and kube-scheduler run. Otherwise its
//     error quotes the end of the log of the process that failed.
//   - All programs listen only on 127.0.0.1. etcd requires no credentials there, so every user of the machine can read
//     its data: do not store valuable secrets in such a control plane.
//   - A temporary control plane leaves no process and no directory after Stop. If the parent dies without Stop, its
//     children die with it (Linux) or the next Start kills them (other Unixes) and removes the directory.
//   - Recover restarts the programs that Crash has killed on the same data and ports: no acknowledged write is lost.
//   - A control plane with a data directory keeps its objects, certificate authority, keys and, if it is free, its port
//     from one Start to the next. Two running control planes never share a directory.
//
// The package installs nothing into the control plane but the Nodes of CreateNode, uses no process or file that it did not create itself, and
// never reads a kubeconfig of the user.
//
// The envtest package of controller-runtime is not used. Its Stop asks kube-apiserver to end, which waits for open watches, and fails after
// 20 seconds; a killed parent leaves its processes running; and it starts neither kube-controller-manager nor
// kube-scheduler.
package localplane
