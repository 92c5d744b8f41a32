// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// field is a field of the ManagedCluster that CEL can read. Its function same reports whether two clusters have the same value as CEL sees
// it: quantities compare by their text, times by instant, and empty equals absent where the JSON omits both.
type field struct {
	path string
	same func(a, b *clusterv1.ManagedCluster) bool
}

// fields are all fields, sorted by path. metadata.resourceVersion and metadata.managedFields are missing, because CEL does not see them.
var fields = []field{
	{"metadata.annotations", func(a, b *clusterv1.ManagedCluster) bool { return maps.Equal(a.Annotations, b.Annotations) }},
	{"metadata.creationTimestamp", func(a, b *clusterv1.ManagedCluster) bool { return a.CreationTimestamp.Equal(&b.CreationTimestamp) }},
	{"metadata.deletionGracePeriodSeconds", func(a, b *clusterv1.ManagedCluster) bool {
		return samePointer(a.DeletionGracePeriodSeconds, b.DeletionGracePeriodSeconds)
	}},
	{"metadata.deletionTimestamp", func(a, b *clusterv1.ManagedCluster) bool {
		return (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && a.DeletionTimestamp.Equal(b.DeletionTimestamp)
	}},
	{"metadata.finalizers", func(a, b *clusterv1.ManagedCluster) bool { return slices.Equal(a.Finalizers, b.Finalizers) }},
	{"metadata.generateName", func(a, b *clusterv1.ManagedCluster) bool { return a.GenerateName == b.GenerateName }},
	{"metadata.generation", func(a, b *clusterv1.ManagedCluster) bool { return a.Generation == b.Generation }},
	{fieldLabels, func(a, b *clusterv1.ManagedCluster) bool { return (len(a.Labels) == 0) == (len(b.Labels) == 0) }},
	{"metadata.name", func(a, b *clusterv1.ManagedCluster) bool { return a.Name == b.Name }},
	{"metadata.namespace", func(a, b *clusterv1.ManagedCluster) bool { return a.Namespace == b.Namespace }},
	{"metadata.ownerReferences", func(a, b *clusterv1.ManagedCluster) bool {
		return slices.EqualFunc(a.OwnerReferences, b.OwnerReferences, sameOwner)
	}},
	{"metadata.selfLink", func(a, b *clusterv1.ManagedCluster) bool {
		return a.SelfLink == b.SelfLink //nolint:staticcheck // CEL reads it, deprecated or not.
	}},
	{"metadata.uid", func(a, b *clusterv1.ManagedCluster) bool { return a.UID == b.UID }},
	{"spec.hubAcceptsClient", func(a, b *clusterv1.ManagedCluster) bool { return a.Spec.HubAcceptsClient == b.Spec.HubAcceptsClient }},
	{"spec.leaseDurationSeconds", func(a, b *clusterv1.ManagedCluster) bool {
		return a.Spec.LeaseDurationSeconds == b.Spec.LeaseDurationSeconds
	}},
	{"spec.managedClusterClientConfigs", func(a, b *clusterv1.ManagedCluster) bool {
		return slices.EqualFunc(a.Spec.ManagedClusterClientConfigs, b.Spec.ManagedClusterClientConfigs, sameClientConfig)
	}},
	{fieldTaints, func(a, b *clusterv1.ManagedCluster) bool { return equalTaints(a.Spec.Taints, b.Spec.Taints) }},
	{fieldAllocatable, func(a, b *clusterv1.ManagedCluster) bool {
		return sameAmounts(a.Status.Allocatable, b.Status.Allocatable)
	}},
	{fieldCapacity, func(a, b *clusterv1.ManagedCluster) bool { return sameAmounts(a.Status.Capacity, b.Status.Capacity) }},
	{fieldClaims, sameClaims},
	{fieldConditions, func(a, b *clusterv1.ManagedCluster) bool {
		x, y := a.Status.Conditions, b.Status.Conditions

		// The JSON has null for a nil list and [] for an empty one.
		return (x == nil) == (y == nil) && slices.EqualFunc(x, y, sameCondition)
	}},
	{"status.managedNamespaces", func(a, b *clusterv1.ManagedCluster) bool {
		return slices.EqualFunc(a.Status.ManagedNamespaces, b.Status.ManagedNamespaces, sameNamespace)
	}},
	{"status.version", func(a, b *clusterv1.ManagedCluster) bool { return a.Status.Version == b.Status.Version }},
}

// The fields from which ClusterInfo derives properties of another kind.
const (
	fieldLabels      = "metadata.labels"
	fieldTaints      = "spec.taints"
	fieldAllocatable = "status.allocatable"
	fieldCapacity    = "status.capacity"
	fieldClaims      = "status.clusterClaims"
	fieldConditions  = "status.conditions"
)

// FieldProperty returns the Property of a field of the ManagedCluster as CEL sees it, by its path of two levels ("status.version"). It
// returns false for a path that ChangedProperties never returns: unknown fields, metadata.resourceVersion and metadata.managedFields.
func FieldProperty(path string) (Property, bool) {
	_, found := slices.BinarySearchFunc(fields, path, func(f field, path string) int { return cmp.Compare(f.path, path) })
	return Property{Kind: Field, Name: path}, found
}

// changedFields returns the fields that differ, sorted by path.
func changedFields(a, b *clusterv1.ManagedCluster) []Property {
	var changed []Property
	for i := range fields {
		if !fields[i].same(a, b) {
			changed = append(changed, Property{Kind: Field, Name: fields[i].path})
		}
	}
	return changed
}

func samePointer[V comparable](a, b *V) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameClaims(a, b *clusterv1.ManagedCluster) bool {
	return slices.Equal(a.Status.ClusterClaims, b.Status.ClusterClaims)
}

func sameAmounts(a, b clusterv1.ResourceList) bool { return maps.EqualFunc(a, b, sameAmount) }

// sameAmount compares quantities by their text, because CEL reads 1024 and 1Ki as different strings.
func sameAmount(a, b resource.Quantity) bool { return a == b || a.String() == b.String() }

func equalTaints(a, b []clusterv1.Taint) bool { return slices.EqualFunc(a, b, sameTaint) }

func sameTaint(a, b clusterv1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect && a.TimeAdded.Equal(&b.TimeAdded)
}

func sameCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.ObservedGeneration == b.ObservedGeneration &&
		a.LastTransitionTime.Equal(&b.LastTransitionTime) && a.Reason == b.Reason && a.Message == b.Message
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		samePointer(a.Controller, b.Controller) && samePointer(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

func sameClientConfig(a, b clusterv1.ClientConfig) bool {
	return a.URL == b.URL && bytes.Equal(a.CABundle, b.CABundle)
}

func sameNamespace(a, b clusterv1.ClusterSetManagedNamespaceConfig) bool {
	return a.Name == b.Name && a.ClusterSet == b.ClusterSet && slices.EqualFunc(a.Conditions, b.Conditions, sameCondition)
}
