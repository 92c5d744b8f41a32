// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the types of the API group kupid.gardener.cloud: PodSchedulingPolicy and ClusterPodSchedulingPolicy, which
// constrain on which nodes the Pods of other people's workloads may run.
//
// +kubebuilder:object:generate=true
// +groupName=kupid.gardener.cloud
package v1alpha1

//go:generate controller-gen object:headerFile=../../../../test/licenses/header.txt paths=.
