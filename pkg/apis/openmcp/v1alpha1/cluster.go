// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The conditions of a Cluster and of a ClusterProvider.
const (
	// ConditionClusterHealthy of a Cluster is written by its provider.
	ConditionClusterHealthy = "ClusterHealthy"
	// ConditionPublished of a Cluster is True when its ManagedCluster exists.
	ConditionPublished = "Published"
	// ConditionProviderReady of a ClusterProvider is written by the provider.
	ConditionProviderReady = "ProviderReady"
)

// Cluster is a Kubernetes cluster that a ClusterProvider makes, and keeps until the Cluster is deleted.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusters,scope=Namespaced
// +kubebuilder:printcolumn:name="Purposes",type=string,JSONPath=`.spec.purposes`
// +kubebuilder:printcolumn:name="Tenancy",type=string,JSONPath=`.spec.tenancy`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.clusterProviderRef.name`
// +kubebuilder:printcolumn:name="Profile",type=string,JSONPath=`.spec.clusterProviderRef.profile`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.kubernetes.version`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what cluster the provider makes.
	Spec ClusterSpec `json:"spec"`
	// status is written by the provider and, in managedCluster and the condition Published, by the hub.
	// +optional
	Status ClusterStatus `json:"status,omitempty"`
}

// ClusterSpec says what cluster the provider makes.
type ClusterSpec struct {
	// clusterProviderRef is the profile that the cluster is made of. It is immutable.
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`is immutable: create another Cluster`
	ClusterProviderRef ClusterProviderReference `json:"clusterProviderRef"`
	// clusterConfigRef names settings of the provider for this cluster.
	// +optional
	ClusterConfigRef *ClusterConfigReference `json:"clusterConfigRef,omitempty"`
	// kubernetes has the version of the cluster. A Cluster without one is granted only to ClusterRequests without one.
	// +optional
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`
	// purposes are the names of the Purposes that the cluster serves. At most 32.
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	Purposes []PurposeName `json:"purposes,omitempty"`
	// tenancy is Exclusive for a cluster of one ClusterRequest, and Shared for one that several ClusterRequests may get. It is immutable.
	// +kubebuilder:default=Exclusive
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`is immutable: create another Cluster`
	// +optional
	Tenancy Tenancy `json:"tenancy,omitempty"`
}

// ClusterPhase says how far the provider is with a Cluster.
//
// +kubebuilder:validation:Enum=Pending;Succeeded;Failed;Deleting
type ClusterPhase string

// The phases.
const (
	ClusterPending   ClusterPhase = "Pending"
	ClusterSucceeded ClusterPhase = "Succeeded"
	ClusterFailed    ClusterPhase = "Failed"
	ClusterDeleting  ClusterPhase = "Deleting"
)

// ClusterStatus says how far the provider is with a Cluster. Provider and hub write their fields by server-side apply.
type ClusterStatus struct {
	ConditionedStatus `json:",inline"`

	// phase says how far the provider is.
	// +optional
	Phase ClusterPhase `json:"phase,omitempty"`
	// endpoints are the URLs of the API server.
	// +optional
	// +listType=map
	// +listMapKey=name
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// managedCluster is the name of the ManagedCluster of this Cluster. The hub writes it.
	// +optional
	ManagedCluster string `json:"managedCluster,omitempty"`
	// providerStatus is what the provider keeps for itself.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
}

// EndpointName says who reaches an endpoint.
//
// +kubebuilder:validation:Enum=apiserver-external;apiserver-internal
type EndpointName string

// The endpoints.
const (
	EndpointExternal EndpointName = "apiserver-external"
	EndpointInternal EndpointName = "apiserver-internal"
)

// Endpoint is a URL of the API server of a cluster.
type Endpoint struct {
	// name says who reaches the URL.
	Name EndpointName `json:"name"`
	// url of the API server.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`
}

// ClusterList is a list of Clusters.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cluster `json:"items"`
}
