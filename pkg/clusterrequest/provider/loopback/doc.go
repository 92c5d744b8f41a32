// SPDX-License-Identifier: Apache-2.0

// Package loopback is a provider whose clusters are kube-apiservers on the machine of the provider (docs/spec/cluster-request.md 4.4). Each
// listens on a port of 127.0.0.1, and has an etcd prefix, a certificate authority and a key for ServiceAccounts of its own. No controllers,
// no scheduler and no kubelets run beside it. SetupAgents adds a work agent of Open Cluster Management for each Cluster that the hub publishes
// as a ManagedCluster, with the access that an AccessRequest gives it and a token of a ServiceAccount of the hub.
//
// Promises: what is run is named by Options alone and never by an object. Port, keys and objects of a Cluster are the same after a restart
// of the provider, and when the Cluster was lost and is created again under its name; an API server that ends by itself is started again.
// TearDown leaves no process, no key in etcd and no file. No API server outlives the provider (see package localplane).
package loopback
