// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// ManagedByLabel with the value Manager marks a ManagedClusterSetBinding that is derived from RBAC.
	ManagedByLabel = "placement.open-cluster-management.io/managed-by"
	// Manager is the name of the controller that writes the bindings derived from RBAC.
	Manager = "clustersetbinding-rbac"
	// UnmanagedKey with the value "true", as a label or an annotation of such a binding, leaves the binding to its users.
	UnmanagedKey = "placement.open-cluster-management.io/unmanaged"
)

// Unmanaged reports whether the controller has made a ManagedClusterSetBinding and leaves it to its users.
func Unmanaged(binding metav1.Object) bool {
	return binding.GetLabels()[ManagedByLabel] == Manager && !Managed(binding)
}

// Managed reports whether the controller owns a ManagedClusterSetBinding: it has ManagedByLabel, and UnmanagedKey is not "true".
func Managed(binding metav1.Object) bool {
	return binding.GetLabels()[ManagedByLabel] == Manager &&
		binding.GetLabels()[UnmanagedKey] != "true" && binding.GetAnnotations()[UnmanagedKey] != "true"
}
