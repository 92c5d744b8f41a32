// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the types of the API group placement.open-cluster-management.io, the first design of the Placement API. It has
// what cluster.open-cluster-management.io/v1beta1 lacks: hard anti-affinity, a predicate by cluster name, claims by plain values, and
// the availability of each cluster in the decisions.
//
// +kubebuilder:object:generate=true
// +groupName=placement.open-cluster-management.io
package v1alpha1

//go:generate controller-gen object:headerFile=../../../../test/licenses/header.txt paths=.
