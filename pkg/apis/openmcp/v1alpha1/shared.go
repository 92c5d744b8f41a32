// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionedStatus is what every status of this group has.
type ConditionedStatus struct {
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// lastReconcileTime is the time of the last change of the status.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`
	// conditions says what came of the spec.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RequestPhase is the outcome of a request.
//
// +kubebuilder:validation:Enum=Pending;Granted;Denied
type RequestPhase string

// The outcomes of a request. Pending and Denied are not final.
const (
	// RequestPending means that the request waits for something.
	RequestPending RequestPhase = "Pending"
	// RequestGranted means that the request has what it asked for.
	RequestGranted RequestPhase = "Granted"
	// RequestDenied means that nothing can satisfy the request as things are.
	RequestDenied RequestPhase = "Denied"
)

// RequestStatus is the outcome of a request, and why.
type RequestStatus struct {
	ConditionedStatus `json:",inline"`

	// status is the outcome. Pending and Denied requests are evaluated again when something changes that they depend on.
	// +optional
	Status RequestPhase `json:"status,omitempty"`
	// reason is a word for the reason of the outcome.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says what the request lacks.
	// +optional
	Message string `json:"message,omitempty"`
}

// The reasons of requests.
const (
	ReasonSuccess            = "Success"
	ReasonError              = "Error"
	ReasonPurposeNotFound    = "PurposeNotFound"
	ReasonNoMatchingProfile  = "NoMatchingProfile"
	ReasonProviderNotReady   = "ProviderNotReady"
	ReasonQuotaExceeded      = "QuotaExceeded"
	ReasonClusterConflict    = "ClusterConflict"
	ReasonClusterTerminating = "ClusterTerminating"
	ReasonInvalidReference   = "InvalidReference"
	ReasonAccessAllowed      = "AccessAllowed"
	ReasonAccessNotAllowed   = "AccessNotAllowed"
	ReasonResolved           = "Resolved"
	ReasonLabelConflict      = "LabelConflict"
	ReasonNamespaceNotFound  = "NamespaceNotFound"
	ReasonRoleExists         = "RoleExists"
	ReasonNoAccess           = "NoAccess"
	ReasonNameTaken          = "NameTaken"
)

// NamespacedName names an object in a namespace.
type NamespacedName struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// ObjectName names an object of a kind that the field implies.
type ObjectName struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// PurposeName is the name of a Purpose. It is a part of label keys.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
type PurposeName string

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string

// AnnotationValue is the value of an annotation of a template.
//
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string

// Kubernetes is the version of Kubernetes that is asked for.
type Kubernetes struct {
	// version is the whole version or its first segments: 1, 1.31 or 1.31.2. Absent leaves the choice to others.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+(\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?)?)?$`
	// +optional
	Version string `json:"version,omitempty"`
}

// ClusterProviderReference names a profile of a ClusterProvider.
type ClusterProviderReference struct {
	// name of the ClusterProvider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// profile is the name of one of the profiles in the status of the ClusterProvider.
	Profile ProfileName `json:"profile"`
}

// ClusterConfigReference names an object with settings of the provider for one Cluster.
type ClusterConfigReference struct {
	// apiGroup of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	APIGroup string `json:"apiGroup"`
	// kind of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Tenancy says whether a Cluster has one tenant or several.
//
// +kubebuilder:validation:Enum=Exclusive;Shared
type Tenancy string

// The tenancies.
const (
	// TenancyExclusive means that no other ClusterRequest gets the Cluster.
	TenancyExclusive Tenancy = "Exclusive"
	// TenancyShared means that several ClusterRequests may get the Cluster.
	TenancyShared Tenancy = "Shared"
)
