// SPDX-License-Identifier: Apache-2.0

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
// +kubebuilder:printcolumn:name="Satisfied",type=string,JSONPath=`.status.conditions[?(@.type=="PlacementSatisfied")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="PlacementSatisfied")].reason`
// +kubebuilder:printcolumn:name="Wanted",type=integer,priority=1,JSONPath=`.spec.numberOfClusters`,description="How many clusters are asked for; empty means all that fit"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.size() <= 63`,optionalOldSelf=true,message=`metadata.name has more than 63 characters, which do not fit into the label of its PlacementDecisions`
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
	// +kubebuilder:validation:Minimum=0
	// +optional
	NumberOfClusters *int32 `json:"numberOfClusters,omitempty"`
	// predicates are ORed: a cluster fits when one of them holds. None means that every cluster fits. At most 32.
	// +kubebuilder:validation:MaxItems=32
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
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")`,message=`must be empty or the name of a ManagedCluster: lower case letters, digits, "-" and ".", each part between dots beginning and ending with a letter or digit`
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
	// +kubebuilder:validation:XValidation:rule=`!("" in self)`,message=`has the empty claim name, which no claim has: name the claim or remove the entry`
	// +optional
	MatchClaims map[string]string `json:"matchClaims,omitempty"`
	// matchExpressions are requirements in the form of a label selector's, ANDed. At most 256.
	// +kubebuilder:validation:MaxItems=256
	// +optional
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// TopologyKeyType says where a topology key is looked up.
//
// +kubebuilder:validation:Enum=Label;Claim
type TopologyKeyType string

// The types of topology keys.
const (
	TopologyKeyTypeLabel TopologyKeyType = "Label"
	TopologyKeyTypeClaim TopologyKeyType = "Claim"
)

// AntiAffinity lets no two selected clusters have the same value of a label or claim. A cluster that does not have it cannot be
// selected. Both fields are given, or neither.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.topologyKey) || has(self.topologyKeyType)`,reason=FieldValueRequired,fieldPath=`.topologyKeyType`,messageExpression=`"must be Label or Claim when topologyKey is given, which is \"" + self.topologyKey + "\""`
// +kubebuilder:validation:XValidation:rule=`!has(self.topologyKeyType) || has(self.topologyKey)`,reason=FieldValueRequired,fieldPath=`.topologyKey`,messageExpression=`"must name a label or claim when topologyKeyType is given, which is " + self.topologyKeyType`
// +kubebuilder:validation:XValidation:rule=`!has(self.topologyKey) || !has(self.topologyKeyType) || self.topologyKeyType != "Label" || (self.topologyKey.indexOf("/") <= 253 && self.topologyKey.matches("^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"))`,fieldPath=`.topologyKey`,messageExpression=`"\"" + self.topologyKey + "\" is not the key of a label: " + "an optional DNS subdomain and \"/\", then at most 63 letters, digits, \"-\", \"_\" or \".\", beginning and ending with a letter or digit"`
type AntiAffinity struct {
	// topologyKey is the key of the label or the name of the claim, 1 to 316 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
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
