package clusterinfo

import (
	"maps"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// ChangedProperties names the keys whose answer may differ between two states of one cluster; a nil state means that the cluster is not there. It is
// empty when nothing that can be read has changed. The keys are sorted by kind, in the order in which the kinds are declared, and name.
//
// A fact and the field that it is taken from are both named: a claim beside the field status.clusterClaims, where CEL sees order and
// duplicates too, a taint beside spec.taints, a resource beside status.allocatable or status.capacity, and availability beside
// status.conditions. Labels stand for themselves; the field metadata.labels is named when the first label comes or the last one goes.
//
// A cluster that appears, goes, or starts to terminate changes everything: the answer then is the single key Name with the name of the
// cluster, and who maps it treats it as a change of every scope that holds the cluster.
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

// sameVersion holds for a resync, and for two facts of one object that differ in what other objects say.
func sameVersion(a, b *ClusterInfo) bool {
	x, y := a.source.cluster, b.source.cluster

	return x == y || (x.ResourceVersion != "" && x.ResourceVersion == y.ResourceVersion && x.UID == y.UID)
}
