// Package env starts a real control plane on loopback: etcd, kube-apiserver and, when asked for, kube-controller-manager.
// Tests and `placement run` share it.
//
// The API server runs as it does in production where it matters to a client: TLS with a certificate authority made for
// this environment, client certificates and service account tokens for identities, RBAC on, the default admission plugins
// (ValidatingAdmissionPolicy and, where served by default, MutatingAdmissionPolicy among them).
//
// Promises:
//
//   - Start returns when the API server is ready, its default namespace exists, and the controllers run. Otherwise its
//     error quotes the end of the log of the process that failed.
//   - Everything listens on 127.0.0.1 alone. etcd there asks for no credentials, so every user of the machine can reach
//     its data: do not put secrets of value into such a control plane.
//   - A temporary environment leaves no process and no directory after Stop. When the parent dies without Stop, its
//     children die with it (Linux) or are killed by the next Start (other Unixes), which also removes the directory.
//   - What Crash has killed, Recover starts again on the same data and ports: what the API server had answered is still there.
//   - An environment with a data directory keeps its objects, certificate authority, keys and, if it is free, its port from
//     one Start to the next. Two live environments never share a directory.
//
// It never installs anything into the control plane, never uses a process or file that it did not make itself, and
// never reads a kubeconfig of the user.
package env
