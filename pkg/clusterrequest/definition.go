// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// The condition of a ManagedCluster that stays without its Cluster, and the reason of the condition and of its Event.
const (
	// ConditionClusterGone is True on a ManagedCluster whose Cluster was lost with its CustomResourceDefinition. It is absent otherwise.
	ConditionClusterGone = "ClusterGone"
	// ReasonDefinitionReplaced means that another CustomResourceDefinition is served than when the Cluster was last seen.
	ReasonDefinitionReplaced = "DefinitionReplaced"
)

// Definition is what the CustomResourceDefinition of a kind says about absent objects of the kind. The zero Definition is that of a kind that
// another API server serves.
type Definition struct {
	// UID is that of the CustomResourceDefinition.
	UID types.UID
	// Created is when the CustomResourceDefinition was created.
	Created time.Time
	// Terminating reports whether the CustomResourceDefinition is being deleted, which deletes all objects of the kind.
	Terminating bool
}

// DefinitionOf returns what the metadata of a CustomResourceDefinition says, which is nil if there is none.
func DefinitionOf(found *metav1.PartialObjectMetadata) Definition {
	if found == nil {
		return Definition{}
	}
	return Definition{UID: found.UID, Created: found.CreationTimestamp.Time, Terminating: found.DeletionTimestamp != nil}
}

// MayHaveTaken reports whether an absent object may have been lost with its kind: the CustomResourceDefinition is being deleted, or is not older
// than a witness, which is an object that was written when the absent one existed (docs/spec/trust.md T2).
func (d Definition) MayHaveTaken(witness metav1.Object) bool {
	return d.Terminating || !d.Created.IsZero() && !d.Created.Before(witness.GetCreationTimestamp().Time)
}

// Keeps returns the condition of a ManagedCluster that stays although its Cluster does not exist, and whether it stays: the Cluster was last seen
// under another CustomResourceDefinition. A ManagedCluster with the taint TerminatingTaint does not stay, because the deletion of its Cluster was
// seen, nor does one with WithdrawAnnotation.
func (d Definition) Keeps(managed *clusterv1.ManagedCluster, cluster types.NamespacedName) (metav1.Condition, bool) {
	if slices.ContainsFunc(managed.Spec.Taints, isTerminating) || types.UID(managed.Annotations[openmcpv1alpha1.DefinitionAnnotation]) == d.UID ||
		managed.Annotations[openmcpv1alpha1.WithdrawAnnotation] == set {
		return metav1.Condition{}, false
	}
	return metav1.Condition{
		Type: ConditionClusterGone, Status: metav1.ConditionTrue, Reason: ReasonDefinitionReplaced,
		Message: fmt.Sprintf("Cluster %s is gone with the former CustomResourceDefinition of Clusters. ManagedCluster %s stays until the Cluster is "+
			"created again. To withdraw it, set its annotation %s to \"true\"", cluster, managed.Name, openmcpv1alpha1.WithdrawAnnotation),
	}, true
}

// KeepTraits returns claims with the claims of traits that a ManagedCluster has.
func KeepTraits(claims map[string]string, managed *clusterv1.ManagedCluster) map[string]string {
	kept := maps.Clone(claims)
	for _, claim := range managed.Status.ClusterClaims {
		if strings.HasPrefix(claim.Name, openmcpv1alpha1.TraitKeyPrefix) {
			kept[claim.Name] = claim.Value
		}
	}
	return kept
}
