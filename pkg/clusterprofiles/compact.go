// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// digest is a SHA-256 sum.
type digest = [sha256.Size]byte

// digests stand for what the hub has applied of a ClusterProfile: its object and its status.
type digests struct {
	object, status digest
}

// digests returns those of a Profile, whose lists are sorted.
func (p *Profile) digests() digests {
	object := struct {
		Labels map[string]string
		Spec   Spec
	}{p.Labels, p.Spec}
	return digests{object: digestOf(object), status: digestOf(p.Status)}
}

func digestOf(value any) digest {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // Strings and times always have a JSON.
	}
	return sha256.Sum256(content)
}

// digestsOf returns the digests of a ClusterProfile.
func digestsOf(profile *clusterinventory.ClusterProfile) digests {
	text, compact := packed(profile)
	if !compact {
		return applied(profile).digests()
	}
	var of digests
	copy(of.object[:], text)
	copy(of.status[:], text[len(of.object):])
	return of
}

// Compact makes a ClusterProfile small for a cache, in place. A compact one, which may be shared, is not written to.
//
// It keeps what Compare, AppliedByHub and TakeOver read of it: its names, versions and times, the name of the cluster manager, whether the hub has
// applied it, what the former writers own, and instead of the values that the hub has applied their digests. Everything else is dropped, also the
// labels.
func Compact(profile *clusterinventory.ClusterProfile, formerWriters ...string) {
	if _, is := packed(profile); is {
		return
	}
	of := digestsOf(profile)
	compact := clusterinventory.ClusterProfile{TypeMeta: profile.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: profile.Namespace, Name: profile.Name, UID: profile.UID, ResourceVersion: profile.ResourceVersion,
		CreationTimestamp: profile.CreationTimestamp, DeletionTimestamp: profile.DeletionTimestamp,
		ManagedFields: compactManagers(profile.ManagedFields, formerWriters),
	}}
	compact.Spec.ClusterManager.Name = profile.Spec.ClusterManager.Name
	if compact.Spec.ClusterManager.Name == ClusterManager {
		compact.Spec.ClusterManager.Name = ClusterManager // One string serves all.
	}
	compact.Status.Version.Kubernetes = packedPrefix + string(of.object[:]) + string(of.status[:])
	*profile = compact
}

// packedPrefix begins the version of a compact ClusterProfile, which has the digests behind it. The API server decodes JSON, whose strings are valid
// UTF-8, so that nobody can pretend digests.
const packedPrefix = "\xff"

// packed returns the packed digests of a compact ClusterProfile; false for any other one.
func packed(profile *clusterinventory.ClusterProfile) (string, bool) {
	text, is := strings.CutPrefix(profile.Status.Version.Kubernetes, packedPrefix)
	return text, is && len(text) == 2*sha256.Size
}

// managedByHub are the managedFields of all compact ClusterProfiles that only the hub owns. They are shared and must not be changed.
var managedByHub = []metav1.ManagedFieldsEntry{{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply}}

// compactManagers returns an entry without fields if the hub has applied a ClusterProfile, and the entries of former writers, which TakeOver reads.
func compactManagers(entries []metav1.ManagedFieldsEntry, formerWriters []string) []metav1.ManagedFieldsEntry {
	compact := managedByHub
	if !slices.ContainsFunc(entries, isOwn) {
		compact = nil
	}
	for _, entry := range entries {
		if !isOwn(entry) && slices.Contains(formerWriters, entry.Manager) {
			compact = append(slices.Clip(compact), entry)
		}
	}
	return compact
}
