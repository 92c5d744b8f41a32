// SPDX-License-Identifier: Apache-2.0

// Package embedded is the hub that `placement run` starts: a control plane with the CustomResourceDefinitions, RBAC and optional sample
// objects, in a temporary directory or in one that the user keeps. For federated objects it also starts three members with their work agents,
// and for ClusterRequests it runs two providers of clusters.
//
// It promises: a directory with other contents is refused, and so is a kubeconfig that it did not write or whose hub still runs; the
// objects of an earlier run stay unchanged unless the user requests the samples again; the controllers and the
// providers have the rights of their ServiceAccounts and no more; Close stops every process, and removes the files that the user did not name.
//
// It never runs a controller of the hub, never changes the user's own kubeconfig, and never overwrites the files of others.
package embedded
