package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PlacementLabel labels the PlacementDecisions of a Placement with its name.
const PlacementLabel = "placement.open-cluster-management.io"

// The conditions of a Placement.
const (
	// ConditionMisconfigured is True when the spec has a mistake. The decisions stay as they were until it is corrected.
	ConditionMisconfigured = "PlacementMisconfigured"
	// ConditionSatisfied is False when fewer clusters were found than asked for, or when there was no cluster to look at.
	ConditionSatisfied = "PlacementSatisfied"
)

// Placement asks which ManagedClusters something in its namespace should run on. The answer stands in PlacementDecisions of the same
// namespace with the label placement.open-cluster-management.io.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=placements,scope=Namespaced
type Placement struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the question. An empty one selects every cluster of every ManagedClusterSet that is bound to the namespace.
	// +optional
	Spec PlacementSpec `json:"spec,omitempty"`
	// status says how the answer came out.
	// +optional
	Status PlacementStatus `json:"status,omitempty"`
}

// PlacementSpec is the question. Its parts are ANDed.
type PlacementSpec struct {
	// clusterSets limits the clusters to the members of these ManagedClusterSets, of which only those count that are bound to the
	// namespace. Empty means every bound set.
	// +optional
	ClusterSets []string `json:"clusterSets,omitempty"`
	// numberOfClusters is how many clusters are asked for. Absent means all that fit.
	// +optional
	NumberOfClusters *int32 `json:"numberOfClusters,omitempty"`
	// predicates are ORed: a cluster fits when one of them holds. None means that every cluster fits.
	// +optional
	Predicates []ClusterPredicate `json:"predicates,omitempty"`
	// antiAffinity keeps the selected clusters apart.
	// +optional
	AntiAffinity AntiAffinity `json:"antiAffinity,omitzero"`
}

// ClusterPredicate is a requirement on a cluster. Its parts are ANDed, and an empty part holds for every cluster.
type ClusterPredicate struct {
	// labelSelector is over the labels of the ManagedCluster.
	// +optional
	LabelSelector metav1.LabelSelector `json:"labelSelector,omitzero"`
	// clusterName is the name of the ManagedCluster; empty is no requirement.
	// +optional
	ClusterName string `json:"clusterName,omitempty"`
	// claimSelector is over status.clusterClaims of the ManagedCluster.
	// +optional
	ClaimSelector ClusterClaimSelector `json:"claimSelector,omitzero"`
}

// ClusterClaimSelector is a requirement on the claims of a cluster. matchClaims and matchExpressions are ANDed. Names and values of
// claims are plain strings: those that no label may have are compared like all others.
type ClusterClaimSelector struct {
	// matchClaims has for each claim name the value it must have.
	// +optional
	MatchClaims map[string]string `json:"matchClaims,omitempty"`
	// matchExpressions are requirements in the form of a label selector's, ANDed.
	// +optional
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// TopologyKeyType says where a topology key is looked up.
// +kubebuilder:validation:Enum=Label;Claim
type TopologyKeyType string

// The types of topology keys.
const (
	TopologyKeyTypeLabel TopologyKeyType = "Label"
	TopologyKeyTypeClaim TopologyKeyType = "Claim"
)

// AntiAffinity lets no two selected clusters have the same value of a label or claim. A cluster that does not have it cannot be
// selected. Both fields are given, or neither.
type AntiAffinity struct {
	// topologyKey is the name of the label or claim.
	// +optional
	TopologyKey string `json:"topologyKey,omitempty"`
	// topologyKeyType says whether topologyKey names a label of the ManagedCluster or a claim of its status.
	// +optional
	TopologyKeyType TopologyKeyType `json:"topologyKeyType,omitempty"`
}

// PlacementStatus says how the answer came out.
type PlacementStatus struct {
	// conditions are PlacementMisconfigured and PlacementSatisfied.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PlacementList is a list of Placements.
//
// +kubebuilder:object:root=true
type PlacementList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Placement `json:"items"`
}
