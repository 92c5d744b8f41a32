// SPDX-License-Identifier: Apache-2.0

// Package kubelet runs the Pods of a node as processes on this machine, so that tests see real rollouts of the hub: kube-scheduler binds
// the Pods, the Deployment and disruption controllers wait for their readiness, and an eviction ends the process.
//
// Start runs the containers of known images with their arguments, environment and a token of their ServiceAccount, probes them, restarts
// them, and ends them as a kubelet does: preStop, SIGTERM, the grace period, SIGKILL. It reports their status and deletes the Pods of which
// nothing runs any more. Router is what kube-proxy is on a node: the API server reaches webhooks by Service through it, which picks a ready
// Pod.
//
// Three things are different from a node, because all Pods share the network and the file system of the machine: a process gets flags that
// make it listen on free ports of loopback, a kubeconfig in KUBECONFIG instead of the files of a ServiceAccount, and TMPDIR instead of
// volumes. A Pod that needs more than that is not run, and its status says why.
package kubelet
