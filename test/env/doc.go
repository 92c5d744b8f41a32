// Package env starts a real control plane on loopback: etcd, kube-apiserver and, optionally, kube-controller-manager. Tests and `placement
// run` use it.
//
// The API server runs as in production where that matters to a client: TLS with a certificate authority of this environment, client
// certificates and ServiceAccount tokens as identities, RBAC, and the default admission plugins (including ValidatingAdmissionPolicy and,
// where served by default, MutatingAdmissionPolicy).
//
// Promises:
//
//   - Start returns when the API server is ready, its default namespace exists, and the controllers run. Otherwise its
//     error quotes the end of the log of the process that failed.
//   - All programs listen only on 127.0.0.1. etcd requires no credentials there, so every user of the machine can read
//     its data: do not store valuable secrets in such a control plane.
//   - A temporary environment leaves no process and no directory after Stop. If the parent dies without Stop, its
//     children die with it (Linux) or the next Start kills them (other Unixes) and removes the directory.
//   - Recover restarts the programs that Crash has killed on the same data and ports: no acknowledged write is lost.
//   - An environment with a data directory keeps its objects, certificate authority, keys and, if it is free, its port from
//     one Start to the next. Two running environments never share a directory.
//
// The package installs nothing into the control plane, uses no process or file that it did not create itself, and never reads a kubeconfig
// of the user.
package env
