// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionClusterReady of a ClusterRequest says whether its Cluster is healthy.
const ConditionClusterReady = "ClusterReady"

// ClusterRequest asks for a cluster for some purposes: one that exists and is shared, or a new one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusterrequests,scope=Namespaced,shortName=creq
// +kubebuilder:printcolumn:name="Purposes",type=string,JSONPath=`.spec.purposes`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="ClusterReady")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what cluster is asked for. It is immutable.
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`is immutable: create another ClusterRequest`
	Spec ClusterRequestSpec `json:"spec"`
	// status is the outcome.
	// +optional
	Status ClusterRequestStatus `json:"status,omitempty"`
}

// ClusterRequestSpec says what cluster is asked for.
type ClusterRequestSpec struct {
	// kubernetes has the version that the cluster must have.
	// +optional
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`
	// dedicated asks for a cluster of its own, or for one that may be shared. Absent leaves that to the Purposes.
	// +optional
	Dedicated *bool `json:"dedicated,omitempty"`
	// purposes are the names of Purposes, whose requirements add up, and which the user may use. At least 1; at most 16 in a new request.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Purposes []PurposeName `json:"purposes"`
	// traits are requirements beyond those of the Purposes. At most 32.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Traits []TraitRequirement `json:"traits,omitempty"`
	// prefix is a proposal for the prefix of the names of cluster-scoped objects, such as "foo-", that the tenant of a shared cluster gets.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// waitForClusterDeletion keeps the deleted request until its Cluster is gone, if the Cluster is deleted with it. The default is true for
	// Exclusive and false for Shared Clusters.
	// +optional
	WaitForClusterDeletion *bool `json:"waitForClusterDeletion,omitempty"`
}

// ClusterRequestStatus is the outcome of a ClusterRequest. Granted means that its ClusterRequestGrant exists.
type ClusterRequestStatus struct {
	RequestStatus `json:",inline"`
}

// ClusterRequestList is a list of ClusterRequests.
//
// +kubebuilder:object:root=true
type ClusterRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterRequest `json:"items"`
}
