// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterRequestGrant records which Cluster a ClusterRequest got. It has the name and the namespace of the request, and only the hub writes
// it. The status is not a subresource, so that one request of the API writes all of the record.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=clusterrequestgrants,scope=Namespaced
// +kubebuilder:printcolumn:name="Cluster Namespace",type=string,JSONPath=`.spec.clusterRef.namespace`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`
// +kubebuilder:printcolumn:name="Prefix",type=string,JSONPath=`.spec.prefix`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterRequestGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what was granted. It is immutable.
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`is immutable: delete the ClusterRequest and create another one`
	Spec ClusterRequestGrantSpec `json:"spec"`
	// status has the request as it was granted.
	// +optional
	Status ClusterRequestGrantStatus `json:"status,omitempty"`
}

// ClusterRequestGrantSpec is what was granted.
type ClusterRequestGrantSpec struct {
	// clusterRef names the Cluster.
	ClusterRef NamespacedName `json:"clusterRef"`
	// prefix precedes the names of the cluster-scoped objects of the tenant on a shared Cluster. Empty on an exclusive one.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// cluster is what a lost Cluster is created again from.
	Cluster GrantedCluster `json:"cluster"`
}

// GrantedCluster is what a lost Cluster is created again from.
type GrantedCluster struct {
	ClusterSpec `json:",inline"`

	// labels of the Cluster: the first 128 by their keys.
	// +kubebuilder:validation:MaxProperties=128
	// +optional
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// annotations of the Cluster that a template may have: the first 64 by their keys.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// clusterSet is the ManagedClusterSet that the annotation cluster.openmcp.cloud/clusterset of the Cluster named. Empty means none.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	ClusterSet string `json:"clusterSet,omitempty"`
}

// ClusterRequestGrantStatus has the request as it was granted.
type ClusterRequestGrantStatus struct {
	ConditionedStatus `json:",inline"`

	// request is a copy of the request.
	// +optional
	Request *ClusterRequestSnapshot `json:"request,omitempty"`
}

// ClusterRequestSnapshot is a copy of a request.
type ClusterRequestSnapshot struct {
	// metadata names the request.
	Metadata NamespacedName `json:"metadata"`
	// spec of the request.
	Spec ClusterRequestSpec `json:"spec"`
}

// ClusterRequestGrantList is a list of ClusterRequestGrants.
//
// +kubebuilder:object:root=true
type ClusterRequestGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterRequestGrant `json:"items"`
}
