// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxDecisions is the greatest number of decisions in one PlacementDecision.
const MaxDecisions = 100

// PlacementDecision is a page of the answer to a Placement, which its label placement.open-cluster-management.io and its controller
// owner name. All pages together are the answer.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=placementdecisions,scope=Namespaced
// +kubebuilder:printcolumn:name="Placement",type=string,JSONPath=`.metadata.labels.placement\.open-cluster-management\.io`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PlacementDecision struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// decisions are sorted by the name of the cluster; at most 100. An empty list says that this page holds no cluster.
	// +kubebuilder:validation:MaxItems=100
	// +required
	Decisions []ClusterDecision `json:"decisions"`
}

// ClusterDecision is one selected cluster.
type ClusterDecision struct {
	// clusterName is the name of the ManagedCluster.
	// +required
	ClusterName string `json:"clusterName"`
	// available says whether the condition ManagedClusterConditionAvailable of the cluster is True.
	// +required
	Available bool `json:"available"`
}

// PlacementDecisionList is a list of PlacementDecisions.
//
// +kubebuilder:object:root=true
type PlacementDecisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PlacementDecision `json:"items"`
}
