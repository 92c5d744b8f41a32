// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/sha256"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// compact makes a ClusterProfile small for a cache, in place. A compact one, which may be shared, is not written to.
//
// It keeps what the controller reads: names, versions and times, the name of the cluster manager, whether the hub has applied it, what the former
// writers own, and digests instead of the values that the hub has applied. Everything else is dropped, also the labels.
func compact(profile *clusterinventory.ClusterProfile, formerWriters []string) {
	if _, is := packed(profile); is {
		return
	}
	digests := digestsOf(profile)
	small := clusterinventory.ClusterProfile{TypeMeta: profile.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: profile.Namespace, Name: profile.Name, UID: profile.UID, ResourceVersion: profile.ResourceVersion,
		CreationTimestamp: profile.CreationTimestamp, DeletionTimestamp: profile.DeletionTimestamp,
		ManagedFields: compactManagers(profile.ManagedFields, formerWriters),
	}}
	small.Spec.ClusterManager.Name = profile.Spec.ClusterManager.Name
	if small.Spec.ClusterManager.Name == clusterprofiles.ClusterManager {
		small.Spec.ClusterManager.Name = clusterprofiles.ClusterManager // One string serves all.
	}
	small.Status.Version.Kubernetes = packedPrefix + string(digests.Object[:]) + string(digests.Status[:])
	*profile = small
}

// packedPrefix begins the version of a compact ClusterProfile. The digests follow it. A string of the API server is valid UTF-8, and this prefix is
// not, so that no writer can store digests in the API server.
const packedPrefix = "\xff"

// packed returns the digests in a compact ClusterProfile; false for any other one.
func packed(profile *clusterinventory.ClusterProfile) (clusterprofiles.Digests, bool) {
	text, is := strings.CutPrefix(profile.Status.Version.Kubernetes, packedPrefix)
	if !is || len(text) != 2*sha256.Size {
		return clusterprofiles.Digests{}, false
	}
	return clusterprofiles.Digests{
		Object: [sha256.Size]byte([]byte(text[:sha256.Size])), Status: [sha256.Size]byte([]byte(text[sha256.Size:])),
	}, true
}

// digestsOf returns the digests of what the hub has applied of a ClusterProfile, which may be compact.
func digestsOf(profile *clusterinventory.ClusterProfile) clusterprofiles.Digests {
	if digests, is := packed(profile); is {
		return digests
	}
	return existing(profile).Digests()
}

// managedByHub are the managedFields of all compact ClusterProfiles that only the hub owns. They are shared and must not be changed.
var managedByHub = []metav1.ManagedFieldsEntry{{Manager: clusterprofiles.FieldManager, Operation: metav1.ManagedFieldsOperationApply}}

// compactManagers returns an entry without fields if the hub has applied a ClusterProfile, and the entries of the former writers, which takeOver
// reads.
func compactManagers(entries []metav1.ManagedFieldsEntry, formerWriters []string) []metav1.ManagedFieldsEntry {
	var small []metav1.ManagedFieldsEntry
	if slices.ContainsFunc(entries, clusterprofiles.IsOwn) {
		small = managedByHub
	}
	for _, entry := range entries {
		if !clusterprofiles.IsOwn(entry) && slices.Contains(formerWriters, entry.Manager) {
			small = append(slices.Clip(small), entry)
		}
	}
	return small
}

// existing returns what a ClusterProfile says.
func existing(profile *clusterinventory.ClusterProfile) *clusterprofiles.Existing {
	says := &clusterprofiles.Existing{
		Labels: profile.Labels, Spec: clusterprofiles.Spec{DisplayName: profile.Spec.DisplayName},
		Owned: clusterprofiles.Owns(profile.ManagedFields),
	}
	says.Spec.ClusterManager.Name = profile.Spec.ClusterManager.Name
	if version := profile.Status.Version.Kubernetes; version != "" {
		says.Status.Version = &clusterprofiles.Version{Kubernetes: version}
	}
	for _, known := range profile.Status.Conditions {
		says.Status.Conditions = append(says.Status.Conditions, clusterprofiles.Condition{
			Type: known.Type, Status: known.Status, Reason: known.Reason, Message: known.Message, LastTransitionTime: known.LastTransitionTime,
		})
	}
	for _, property := range profile.Status.Properties {
		says.Status.Properties = append(says.Status.Properties, clusterprofiles.Property{Name: property.Name, Value: property.Value})
	}
	return says
}
