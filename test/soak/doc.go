// SPDX-License-Identifier: Apache-2.0

// Package soak runs the controllers in this process against a real kube-apiserver and etcd for as long as SOAK_DURATION says, 10 seconds by
// default, while namespaces, placements, clusters, sets, bindings and scores come and go. What is gone must leave no memory behind.
package soak
