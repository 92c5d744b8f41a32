// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"maps"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// ChangedProperties returns the properties that may differ between two states of one cluster, sorted by kind, in the order in which the
// kinds are declared, and by name. A nil state means that the cluster does not exist; the result is empty if no property has changed.
//
// A fact and the field that it is derived from are both returned: a claim and the field status.clusterClaims, where CEL sees order and
// duplicates too, a taint and spec.taints, a resource and status.allocatable or status.capacity, availability and status.conditions. A
// changed label is returned without the field metadata.labels, unless the first label was added or the last one removed.
//
// For a cluster that is added, deleted, or begins to terminate, the result is the single property Name with the name of the cluster. The
// caller must treat it as a change of every property, and of every scope that contains the cluster.
func ChangedProperties(before, after *ClusterInfo) []Property {
	switch {
	case before == after:
		return nil
	case before == nil:
		return []Property{{Kind: Name, Name: after.Name}}
	case after == nil || before.Terminating != after.Terminating:
		return []Property{{Kind: Name, Name: before.Name}}
	}
	var changes, changed []Property

	if !sameVersion(before, after) {
		changed = changedFields(before.source.cluster, after.source.cluster)
		changes = diffMaps(changes, Label, before.Labels, after.Labels, equalValues)
	}
	if containsField(changed, fieldClaims) {
		changes = diffMaps(changes, Claim, before.Claims, after.Claims, equalValues)
	}
	if containsField(changed, fieldTaints) || !slices.Equal(before.Unreadable, after.Unreadable) {
		changes = diffMaps(changes, Taint, taintsByKey(before.Taints), taintsByKey(after.Taints), equalTaints)
	}

	if containsField(changed, fieldAllocatable) || containsField(changed, fieldCapacity) {
		changes = diffMaps(changes, Resource, before.Resources, after.Resources, equalValues)
	}
	changes = diffMaps(changes, Score, before.Scores, after.Scores, equalScores)
	if before.Available != after.Available {
		changes = append(changes, Property{Kind: Availability})
	}
	if !slices.Equal(before.Profiles, after.Profiles) {
		changes = append(changes, Property{Kind: ClusterProfile})
	}

	if len(changes) == 0 {
		return changed
	}
	return append(changes, changed...)
}

func containsField(changed []Property, path string) bool {
	return slices.Contains(changed, Property{Kind: Field, Name: path})
}

func equalValues[V comparable](a, b V) bool { return a == b }

func equalScores(a, b ScoreSet) bool {
	return a.ValidUntil.Equal(b.ValidUntil) && slices.Equal(a.Names, b.Names) && maps.Equal(a.Values, b.Values) &&
		slices.Equal(a.Unreadable, b.Unreadable)
}

func diffMaps[V any](changes []Property, kind PropertyKind, before, after map[string]V, equal func(a, b V) bool) []Property {
	var names []string
	for name, was := range before {
		is, there := after[name]
		if !there || !equal(was, is) {
			names = append(names, name)
		}
	}

	for name := range after {
		if _, there := before[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		changes = append(changes, Property{Kind: kind, Name: name})
	}
	return changes
}

func taintsByKey(taints []clusterv1.Taint) map[string][]clusterv1.Taint {
	byKey := make(map[string][]clusterv1.Taint, len(taints))
	for _, taint := range taints {
		byKey[taint.Key] = append(byKey[taint.Key], taint)
	}
	return byKey
}

// sameVersion reports whether two states are of the same version of the ManagedCluster, as after a resync or a change of another object,
// such as an AddOnPlacementScore.
func sameVersion(a, b *ClusterInfo) bool {
	x, y := a.source.cluster, b.source.cluster
	return x == y || (x.ResourceVersion != "" && x.ResourceVersion == y.ResourceVersion && x.UID == y.UID)
}
