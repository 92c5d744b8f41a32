// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions of a Tenant.
const (
	// ConditionAffinityClassesCompliant is False when the Tenant, or an application of it, has a class that is not allowed there any more.
	ConditionAffinityClassesCompliant = "AffinityClassesCompliant"
	// ConditionValuesWritten is False when the Secret cozystack-values has not the effective classes of the Tenant.
	ConditionValuesWritten = "ValuesWritten"
)

// Tenant owns a namespace, and the Tenants and applications in it. It lives in the namespace of its parent.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=tenants,scope=Namespaced
// +kubebuilder:printcolumn:name="Default",type=string,JSONPath=`.spec.defaultAffinityClass`
// +kubebuilder:printcolumn:name="Compliant",type=string,JSONPath=`.status.conditions[?(@.type=="AffinityClassesCompliant")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec has the classes of the Tenant, and fields that the hub does not read.
	// +optional
	Spec TenantSpec `json:"spec,omitempty"`
	// status says what came of the spec.
	// +optional
	Status TenantStatus `json:"status,omitempty"`
}

// TenantSpec has the classes of a Tenant. Its other fields (etcd, ingress, monitoring, ...) are those of the platform: the API server
// keeps them, and this type, which the hub never writes, has them not.
//
// +kubebuilder:pruning:PreserveUnknownFields
type TenantSpec struct {
	// defaultAffinityClass is the class of applications that name none. Empty means the default of the parent, if it is allowed here.
	// +optional
	DefaultAffinityClass string `json:"defaultAffinityClass,omitempty"`
	// allowedAffinityClasses are the classes that applications may have, of those that the parent allows. Empty means all of them.
	// +optional
	// +listType=set
	AllowedAffinityClasses []string `json:"allowedAffinityClasses,omitempty"`
}

// TenantStatus says what came of the spec.
type TenantStatus struct {
	// conditions are AffinityClassesCompliant and ValuesWritten.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TenantList is a list of Tenants.
//
// +kubebuilder:object:root=true
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Tenant `json:"items"`
}
