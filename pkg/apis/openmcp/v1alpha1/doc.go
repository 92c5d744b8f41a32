// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the types of the API group cluster.openmcp.cloud: clusters that are made on request, who provides them, and the
// access to them (docs/spec/cluster-request.md 4.1.1).
//
// A ClusterRequest asks for a Cluster for some Purposes. A ClusterRequestGrant records which Cluster it got. A ClusterProvider makes the
// real clusters and publishes the profiles that it offers. An AccessRequest asks for a kubeconfig with permissions on a Cluster.
//
// +kubebuilder:object:generate=true
// +groupName=cluster.openmcp.cloud
package v1alpha1

//go:generate controller-gen object:headerFile=../../../../test/licenses/header.txt paths=.
