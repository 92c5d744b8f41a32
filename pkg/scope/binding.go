package scope

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// ManagedByLabel with the value Manager marks a ManagedClusterSetBinding that follows from RBAC.
	ManagedByLabel = "placement.open-cluster-management.io/managed-by"
	// Manager is the controller that keeps the bindings that follow from RBAC.
	Manager = "clustersetbinding-rbac"
	// UnmanagedKey with the value "true", as a label or an annotation of such a binding, hands it over to its users.
	UnmanagedKey = "placement.open-cluster-management.io/unmanaged"
)

// Managed reports whether a ManagedClusterSetBinding follows from RBAC: it has the label, and has not been handed over.
func Managed(binding metav1.Object) bool {
	return binding.GetLabels()[ManagedByLabel] == Manager &&
		binding.GetLabels()[UnmanagedKey] != "true" && binding.GetAnnotations()[UnmanagedKey] != "true"
}
