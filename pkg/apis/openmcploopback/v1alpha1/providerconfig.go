// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// ProviderConfig has the profiles that the loopback provider publishes. What the provider runs is named by its flags and by no object,
// because users who can write the object could run commands on the machine of the hub.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=providerconfigs,scope=Cluster
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec has the profiles.
	Spec ProviderConfigSpec `json:"spec"`
}

// ProviderConfigSpec has the profiles that the provider publishes.
type ProviderConfigSpec struct {
	// providerRef names the ClusterProvider whose status gets the profiles.
	ProviderRef openmcpv1alpha1.ObjectName `json:"providerRef"`
	// profiles are published under their names. At least 1, at most 32.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Profiles []Profile `json:"profiles"`
}

// Profile is a kind of clusters.
type Profile struct {
	// name of the profile.
	Name openmcpv1alpha1.ProfileName `json:"name"`
	// versions are the versions of Kubernetes that are published. At least 1, at most 32.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=version
	Versions []openmcpv1alpha1.SupportedVersion `json:"versions"`
	// traits are the traits of the clusters. At most 64.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Traits []openmcpv1alpha1.SupportedTrait `json:"traits,omitempty"`
}

// ProviderConfigList is a list of ProviderConfigs.
//
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfig `json:"items"`
}
