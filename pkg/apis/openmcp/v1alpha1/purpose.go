// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Purpose is what clusters are for, with the requirements that every ClusterRequest for it has.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=purposes,scope=Cluster
// +kubebuilder:printcolumn:name="Dedicated",type=boolean,JSONPath=`.spec.dedicated`
// +kubebuilder:printcolumn:name="Limit",type=integer,JSONPath=`.spec.tenancyLimit`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.size() <= 63`,message=`metadata.name must have at most 63 characters, because the name becomes a part of label keys`
type Purpose struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec has the requirements.
	// +optional
	Spec PurposeSpec `json:"spec,omitempty"`
}

// PurposeSpec has the requirements of a Purpose, and what the new Clusters for it are like.
type PurposeSpec struct {
	// dedicated asks for a cluster of its own for each ClusterRequest that does not say otherwise.
	// +optional
	Dedicated bool `json:"dedicated,omitempty"`
	// traits are requirements on the cluster. At most 32.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Traits []TraitRequirement `json:"traits,omitempty"`
	// tenancyLimit is the number of ClusterRequests that may share a Cluster of this Purpose. 0 means any number.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenancyLimit int32 `json:"tenancyLimit,omitempty"`
	// clusterTemplate says where the new Clusters are, how they are named, and which labels and annotations they have.
	// +optional
	ClusterTemplate *ClusterTemplate `json:"clusterTemplate,omitempty"`
}

// ClusterTemplate says where new Clusters are, how they are named, and which labels and annotations they have.
type ClusterTemplate struct {
	// namespace of the Clusters. Empty means --shared-clusters-namespace of the hub for shared
	// Clusters, and the namespace of the request for others.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the one Cluster that all requests of an unlimited, shared Purpose get. Empty means the name of the first Purpose.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +optional
	Name string `json:"name,omitempty"`
	// generateName precedes 8 characters in the names of the other Clusters. Empty means the name of the first Purpose and a dash.
	// +kubebuilder:validation:MaxLength=245
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[-a-z0-9])?)?$`
	// +optional
	GenerateName string `json:"generateName,omitempty"`
	// labels of the Clusters. At most 64.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(key, key.indexOf("/") <= 253 && key.matches("^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"))`,message=`has a key that no label has: an optional DNS subdomain and "/", then at most 63 letters, digits, "-", "_" or ".", beginning and ending with a letter or digit`
	// +optional
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// annotations of the Clusters, for providers and people to read; the ManagedClusters do not get them. At most 64, with values of at most 1024
	// characters.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(key, key.indexOf("/") <= 253 && key.matches("^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"))`,message=`has a key that no annotation has: an optional DNS subdomain and "/", then at most 63 letters, digits, "-", "_" or ".", beginning and ending with a letter or digit`
	// +kubebuilder:validation:XValidation:rule=`!self.exists(key, key.matches("^([^/]*[.])?(cluster[.]openmcp[.]cloud|kubernetes[.]io|k8s[.]io|open-cluster-management[.]io)/"))`,message=`has a key of cluster.openmcp.cloud, kubernetes.io, k8s.io or open-cluster-management.io, or below one of them, which the hub and other controllers obey: use a domain of your own`
	// +optional
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// clusterSet is the ManagedClusterSet of the ManagedClusters. Empty means --clusters-inventory-set of the hub. Who sets it needs the right to
	// create managedclustersets/join for the set.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	// +optional
	ClusterSet string `json:"clusterSet,omitempty"`
}

// PurposeList is a list of Purposes.
//
// +kubebuilder:object:root=true
type PurposeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Purpose `json:"items"`
}
