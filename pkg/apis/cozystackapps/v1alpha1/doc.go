// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has what the hub reads and writes of the API group apps.cozystack.io: Tenant. The other kinds of the group are
// applications; they are the platform's, and the hub handles them as unstructured objects.
//
// +kubebuilder:object:generate=true
// +groupName=apps.cozystack.io
package v1alpha1

//go:generate controller-gen object:headerFile=../../../../test/licenses/header.txt paths=.
