// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the types of the API group cozystack.io: AffinityClass, a named node selector that applications choose and that
// is verified on their Pods.
//
// +kubebuilder:object:generate=true
// +groupName=cozystack.io
package v1alpha1

//go:generate controller-gen object:headerFile=../../../../test/licenses/header.txt paths=.
