// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// ClusterManager is the name of the cluster manager of ClusterProfiles that represent ManagedClusters.
const ClusterManager = "open-cluster-management"

const (
	// ClusterManagerLabel is the label of a ClusterProfile with the name of its cluster manager.
	ClusterManagerLabel = "x-k8s.io/cluster-manager"
	// ClusterSetLabel is the label of a ClusterProfile with the name of the exclusive set of its cluster.
	ClusterSetLabel = "multicluster.x-k8s.io/clusterset"
)

const (
	// ConditionControlPlaneHealthy is the condition of a ClusterProfile that has the status of the condition ManagedClusterConditionAvailable.
	ConditionControlPlaneHealthy = "ControlPlaneHealthy"
	// ConditionJoined is the condition of a ClusterProfile that has the status of the condition ManagedClusterJoined.
	ConditionJoined = "Joined"
)

// ownLabels are the labels, and ownConditions the types of the conditions, that the hub says in ClusterProfiles.
var (
	ownLabels     = []string{ClusterManagerLabel, ClusterSetLabel, clusterv1.ClusterNameLabelKey}
	ownConditions = []string{ConditionControlPlaneHealthy, ConditionJoined}
)

// Profile is what the hub says in the ClusterProfiles of one ManagedCluster. They are equal in all namespaces.
type Profile struct {
	// Name is the name of the ManagedCluster.
	Name   string            `json:"-"`
	Labels map[string]string `json:"-"`
	Spec   Spec              `json:"spec"`
	Status Status            `json:"status"`
}

// Spec is the spec of a ClusterProfile.
type Spec struct {
	DisplayName    string `json:"displayName"`
	ClusterManager struct {
		Name string `json:"name"`
	} `json:"clusterManager"`
}

// Status is what the hub says in the status of a ClusterProfile. The ways to access the cluster are those of others.
type Status struct {
	// Conditions are sorted by type, and have the times of transition of the ManagedCluster.
	Conditions []Condition `json:"conditions,omitempty"`
	Version    *Version    `json:"version,omitempty"`
	// Properties are sorted by name, of which there is one of each.
	Properties []Property `json:"properties,omitempty"`
}

// Condition is a condition of a cluster. All but its type is that of a condition of the ManagedCluster.
type Condition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	Reason             string                 `json:"reason"`
	Message            string                 `json:"message"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime"`
}

// Version is the version of a cluster.
type Version struct {
	Kubernetes string `json:"kubernetes"`
}

// Property is a property of a cluster.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Profile returns what the ClusterProfiles of a ManagedCluster say, with the claims that the patterns select, and how many of these it leaves
// out. The result shares nothing with the ManagedCluster.
func (p Patterns) Profile(cluster *clusterv1.ManagedCluster) (*Profile, LeftOut) {
	profile := &Profile{
		Name: cluster.Name,
		Labels: map[string]string{
			ClusterManagerLabel:           ClusterManager,
			clusterv1.ClusterNameLabelKey: cluster.Name,
		},
		Spec:   Spec{DisplayName: cluster.Name},
		Status: Status{Conditions: conditions(cluster)},
	}
	profile.Spec.ClusterManager.Name = ClusterManager
	if set := cluster.Labels[clusterv1beta2.ClusterSetLabel]; set != "" {
		profile.Labels[ClusterSetLabel] = set
	}
	if version := cluster.Status.Version.Kubernetes; version != "" {
		profile.Status.Version = &Version{Kubernetes: version}
	}

	var out LeftOut
	profile.Status.Properties, out = p.properties(cluster.Status.ClusterClaims)
	return profile, out
}

// conditions returns the conditions of a ClusterProfile, without those of the ManagedCluster that lack what a ClusterProfile must have.
func conditions(cluster *clusterv1.ManagedCluster) []Condition {
	var converted []Condition
	for _, each := range []struct{ from, to string }{
		{clusterv1.ManagedClusterConditionAvailable, ConditionControlPlaneHealthy},
		{clusterv1.ManagedClusterConditionJoined, ConditionJoined},
	} {
		known := meta.FindStatusCondition(cluster.Status.Conditions, each.from)
		if known == nil || known.Reason == "" || known.LastTransitionTime.IsZero() {
			continue
		}
		converted = append(converted, Condition{
			Type: each.to, Status: known.Status, Reason: known.Reason, Message: known.Message, LastTransitionTime: known.LastTransitionTime,
		})
	}
	return converted
}
