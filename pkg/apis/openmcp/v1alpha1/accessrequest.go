// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionResolved of an AccessRequest is True when the hub has found its Cluster and allows the access, and False when the provider has
// to take the access away.
const ConditionResolved = "Resolved"

// ConditionPurposesUsable of an AccessRequest for a ClusterRequest says whether the requester could use the Purposes of the ClusterRequest when the
// access was given. If it is True, the access ends when the requester can no longer use one of them.
const ConditionPurposesUsable = "PurposesUsable"

// AccessRequest asks for a kubeconfig that has exactly some permissions on the cluster of a Cluster or of a granted ClusterRequest.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=accessrequests,scope=Namespaced,shortName=areq
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.status.secretRef.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AccessRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which permissions on which cluster are asked for.
	Spec AccessRequestSpec `json:"spec"`
	// status is the outcome.
	// +optional
	Status AccessRequestStatus `json:"status,omitempty"`
}

// AccessRequestSpec says which permissions on which cluster are asked for.
//
// +kubebuilder:validation:XValidation:rule=`has(self.clusterRef) != has(self.requestRef)`,message=`needs exactly one of clusterRef and requestRef`
// +kubebuilder:validation:XValidation:rule=`has(self.clusterRef) == has(oldSelf.clusterRef) && (!has(self.clusterRef) || self.clusterRef == oldSelf.clusterRef)`,message=`clusterRef is immutable: create another AccessRequest`
// +kubebuilder:validation:XValidation:rule=`has(self.requestRef) == has(oldSelf.requestRef) && (!has(self.requestRef) || self.requestRef == oldSelf.requestRef)`,message=`requestRef is immutable: create another AccessRequest`
type AccessRequestSpec struct {
	// clusterRef names a Cluster. It is immutable.
	// +optional
	ClusterRef *ObjectReference `json:"clusterRef,omitempty"`
	// requestRef names a ClusterRequest, whose Cluster is meant once it is granted. It is immutable.
	// +optional
	RequestRef *ObjectReference `json:"requestRef,omitempty"`
	// permissions are Roles and ClusterRoles that are made on the cluster and bound. At most 64.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Permissions []Permission `json:"permissions,omitempty"`
	// roleRefs are Roles and ClusterRoles that exist on the cluster, and are bound. At most 64.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	RoleRefs []RoleReference `json:"roleRefs,omitempty"`
	// ttl is how long after its creation the AccessRequest is deleted, as 90m or 720h. Absent means never.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches("^([0-9]+([.][0-9]+)?(ms|s|m|h))+$") || duration(self) > duration("0s")`,message=`must be longer than 0s`
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`
	// requester is the user whose permissions count. Admission writes it, and replaces what users write here.
	// +optional
	Requester *Requester `json:"requester,omitempty"`
}

// ObjectReference names an object in a namespace, or in that of the object with the reference.
type ObjectReference struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace of the object. Empty means that of the object with the reference.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// Permission is a Role, or without a namespace a ClusterRole, that is made on the cluster.
type Permission struct {
	// name of the role. Empty means a name that the provider makes up.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^/%]*$`
	// +optional
	Name string `json:"name,omitempty"`
	// namespace of the Role on the cluster. Empty means a ClusterRole.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// createNamespace creates the namespace on the cluster if it is missing there.
	// +kubebuilder:default=true
	// +optional
	CreateNamespace *bool `json:"createNamespace,omitempty"`
	// rules of the role.
	// +listType=atomic
	Rules []rbacv1.PolicyRule `json:"rules"`
}

// RoleKind is the kind of a role.
//
// +kubebuilder:validation:Enum=Role;ClusterRole
type RoleKind string

// The kinds of roles.
const (
	KindRole        RoleKind = "Role"
	KindClusterRole RoleKind = "ClusterRole"
)

// RoleReference names a role on the cluster.
//
// +kubebuilder:validation:XValidation:rule=`self.kind != "Role" || (has(self.namespace) && self.namespace != "")`,message=`a Role needs its namespace`
type RoleReference struct {
	// kind is Role or ClusterRole.
	Kind RoleKind `json:"kind"`
	// name of the role.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace in which the role is bound. Empty means in all of them.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// Requester is a user as authentication on the hub knows them.
type Requester struct {
	// username of the user. An empty one has no permission.
	// +optional
	Username string `json:"username,omitempty"`
	// uid of the user.
	// +optional
	UID string `json:"uid,omitempty"`
	// groups of the user.
	// +listType=atomic
	// +optional
	Groups []string `json:"groups,omitempty"`
	// extra is what authentication adds.
	// +optional
	Extra map[string][]string `json:"extra,omitempty"`
}

// AccessRequestStatus is the outcome of an AccessRequest.
type AccessRequestStatus struct {
	RequestStatus `json:",inline"`

	// clusterRef names the Cluster that the reference in the spec leads to. The hub writes it.
	// +optional
	ClusterRef *NamespacedName `json:"clusterRef,omitempty"`
	// secretRef names the Secret with the kubeconfig. The provider writes it.
	// +optional
	SecretRef *ObjectName `json:"secretRef,omitempty"`
}

// AccessRequestList is a list of AccessRequests.
//
// +kubebuilder:object:root=true
type AccessRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AccessRequest `json:"items"`
}
