// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InUseFinalizer keeps an AffinityClass while applications, HelmReleases or Tenants name it.
const InUseFinalizer = "cozystack.io/affinityclass-in-use"

// The condition of an AffinityClass and its reason.
const (
	// ConditionDeletionBlocked is True while the deletion of an AffinityClass waits for its users to go.
	ConditionDeletionBlocked = "DeletionBlocked"
	// ReasonInUse means that an application, a HelmRelease or a Tenant names the class.
	ReasonInUse = "InUse"
)

// AffinityClass is a contract on nodes that an application chooses by name, like a StorageClass: its Pods have to ask for nodes with
// these labels.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=affinityclasses,scope=Cluster
// +kubebuilder:printcolumn:name="Enforcement",type=string,JSONPath=`.spec.enforcement`
// +kubebuilder:printcolumn:name="Applications",type=integer,JSONPath=`.status.applications`
// +kubebuilder:printcolumn:name="Tenants",type=integer,JSONPath=`.status.tenants`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.size() <= 63`,message=`metadata.name must have at most 63 characters, because the name becomes the value of a label`
type AffinityClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the contract.
	Spec AffinityClassSpec `json:"spec"`
	// status says who uses the class.
	// +optional
	Status AffinityClassStatus `json:"status,omitempty"`
}

// Enforcement says what happens to a Pod that does not ask for the nodes of its class.
//
// +kubebuilder:validation:Enum=Deny;Warn
type Enforcement string

// The enforcements.
const (
	// EnforcementDeny refuses the Pod.
	EnforcementDeny Enforcement = "Deny"
	// EnforcementWarn admits the Pod with a warning.
	EnforcementWarn Enforcement = "Warn"
)

// AffinityClassSpec is the contract.
type AffinityClassSpec struct {
	// nodeSelector has the labels that each Pod must have in its own spec.nodeSelector. It is immutable: replace a class by another one.
	// At least 1, at most 64 labels.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`is immutable: create another AffinityClass`
	// +kubebuilder:validation:XValidation:rule=`self.all(key, key.indexOf("/") <= 253 && key.matches("^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"))`,message=`has a key that no label has: an optional DNS subdomain and "/", then at most 63 letters, digits, "-", "_" or ".", beginning and ending with a letter or digit`
	NodeSelector map[string]NodeLabelValue `json:"nodeSelector"`
	// enforcement says what happens to a Pod that does not have these labels: Deny refuses it, Warn admits it with a warning.
	// +kubebuilder:default=Deny
	// +optional
	Enforcement Enforcement `json:"enforcement,omitempty"`
}

// NodeLabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type NodeLabelValue string

// AffinityClassStatus says who uses the class.
type AffinityClassStatus struct {
	// conditions has DeletionBlocked while the class is being deleted.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// applications is the number of applications that use the class.
	// +optional
	Applications int32 `json:"applications,omitempty"`
	// tenants is the number of Tenants that name the class.
	// +optional
	Tenants int32 `json:"tenants,omitempty"`
}

// AffinityClassList is a list of AffinityClasses.
//
// +kubebuilder:object:root=true
type AffinityClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AffinityClass `json:"items"`
}
