// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterProvider makes clusters. Its controller publishes in the status which profiles it offers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusterproviders,scope=Cluster
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.size() <= 63`,message=`metadata.name must have at most 63 characters, because the name becomes the value of a label`
type ClusterProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the platform says of the provider. The provider itself has no right to write it.
	// +optional
	Spec ClusterProviderSpec `json:"spec,omitempty"`
	// status has the profiles. The controller of the provider writes it.
	// +optional
	Status ClusterProviderStatus `json:"status,omitempty"`
}

// ClusterProviderSpec is what the platform says of the provider.
type ClusterProviderSpec struct {
	// package names what the provider is installed from. It is informational: an admin installs the provider.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Package string `json:"package,omitempty"`
	// packagePullSecret names the Secrets to fetch the package with. It is informational.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	PackagePullSecret []ObjectName `json:"packagePullSecret,omitempty"`
	// leaseNamespace is the namespace in which the provider renews the Leases of its Clusters, and has no other rights on Leases. It is one of
	// its own. While it is empty the namespace of each Cluster counts, where tenants may write Leases.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	LeaseNamespace string `json:"leaseNamespace,omitempty"`
	// access says that the provider gives access to its clusters. Without it the hub denies AccessRequests with the reason NoAccess, and the
	// provider needs no rights on them.
	// +optional
	Access bool `json:"access,omitempty"`
}

// ClusterProviderStatus says whether the provider makes new clusters, and of which profiles.
type ClusterProviderStatus struct {
	ConditionedStatus `json:",inline"`

	// ready says whether the provider makes new clusters. Its existing ones are granted in any case.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// reason is a word for why the provider is, or is not, ready.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says why the provider is, or is not, ready.
	// +optional
	Message string `json:"message,omitempty"`
	// profiles are the kinds of clusters that the provider offers. At most 128.
	// +kubebuilder:validation:MaxItems=128
	// +listType=map
	// +listMapKey=name
	// +optional
	Profiles []Profile `json:"profiles,omitempty"`
}

// Profile is a kind of clusters that a provider offers.
type Profile struct {
	// name of the profile.
	Name ProfileName `json:"name"`
	// providerConfigRef names the configuration of the provider that the profile is from.
	// +optional
	ProviderConfigRef *ObjectName `json:"providerConfigRef,omitempty"`
	// supportedVersions are the versions of Kubernetes that a new cluster may have. At most 128.
	// +kubebuilder:validation:MaxItems=128
	// +listType=map
	// +listMapKey=version
	// +optional
	SupportedVersions []SupportedVersion `json:"supportedVersions,omitempty"`
	// supportedTraits are the traits of the clusters. At most 128.
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	SupportedTraits []SupportedTrait `json:"supportedTraits,omitempty"`
}

// ProfileName is the name of a profile. It becomes the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
type ProfileName string

// SupportedVersion is a version of Kubernetes.
type SupportedVersion struct {
	// version is a whole version: 1.31.2.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`
	Version string `json:"version"`
	// deprecated versions are given only to ClusterRequests that ask for exactly this version.
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`
}

// ClusterProviderList is a list of ClusterProviders.
//
// +kubebuilder:object:root=true
type ClusterProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterProvider `json:"items"`
}
