// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the types of the API group loopback.cluster.openmcp.cloud: the configuration of the ClusterProvider whose clusters
// are kube-apiservers on the machine of the hub (docs/spec/cluster-request.md 4.4).
//
// +kubebuilder:object:generate=true
// +groupName=loopback.cluster.openmcp.cloud
package v1alpha1

//go:generate controller-gen object:headerFile=../../../../test/licenses/header.txt paths=.
