package facts

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// Diff names the keys whose answer may differ between two states of one cluster; a nil state means that the cluster is not there. It is
// empty when nothing that can be read has changed. The keys are sorted by kind and name.
//
// A cluster that appears, goes, or starts to terminate changes everything: the answer then is the single key Name with the name of the
// cluster, and who maps it treats it as a change of every scope that holds the cluster.
func Diff(before, after *Facts) []Key {
	switch {
	case before == after:
		return nil
	case before == nil:
		return []Key{{Kind: Name, Name: after.Name}}
	case after == nil || before.Terminating != after.Terminating:
		return []Key{{Kind: Name, Name: before.Name}}
	}

	changes := diffMaps(nil, Score, before.Scores, after.Scores, equalScores)
	if !slices.Equal(before.Profiles, after.Profiles) {
		changes = append(changes, Key{Kind: ClusterProfile})
	}

	if sameVersion(before, after) {
		return changes
	}

	changes = diffMaps(changes, Label, before.Labels, after.Labels, equalValues)
	changes = diffMaps(changes, Claim, before.Claims, after.Claims, equalValues)
	changes = diffMaps(changes, Taint, taintsByKey(before.Taints), taintsByKey(after.Taints), equalTaints)
	changes = diffMaps(changes, Resource, before.Resources, after.Resources, equalValues)

	if before.Available != after.Available {
		changes = append(changes, Key{Kind: Availability})
	}

	if len(changes) == 0 && !sameObject(before, after) {
		changes = append(changes, Key{Kind: Any})
	}

	slices.SortStableFunc(changes, func(a, b Key) int { return cmp.Compare(a.Kind, b.Kind) })

	return changes
}

func equalValues[V comparable](a, b V) bool { return a == b }

func equalScores(a, b ScoreSet) bool {
	return a.ValidUntil.Equal(b.ValidUntil) && slices.Equal(a.Names, b.Names) && maps.Equal(a.Values, b.Values)
}

func diffMaps[V any](changes []Key, kind Kind, before, after map[string]V, equal func(a, b V) bool) []Key {
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
		changes = append(changes, Key{Kind: kind, Name: name})
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
func sameVersion(a, b *Facts) bool {
	x, y := a.source.cluster, b.source.cluster

	return x == y || (x.ResourceVersion != "" && x.ResourceVersion == y.ResourceVersion && x.UID == y.UID)
}

// sameObject compares all that a CEL expression could read, but for the bookkeeping of the API server (resourceVersion, managedFields),
// which says nothing about the cluster.
func sameObject(a, b *Facts) bool {
	x, y := *a.source.cluster, *b.source.cluster
	x.ResourceVersion, y.ResourceVersion = "", ""
	x.ManagedFields, y.ManagedFields = nil, nil

	return asRead.DeepEqual(x, y)
}

// asRead is equality.Semantic, but that quantities count as they are written: CEL reads 1024 and 1Ki as two texts.
var asRead = conversion.EqualitiesOrDie(
	func(a, b resource.Quantity) bool { return a.String() == b.String() },
	func(a, b metav1.Time) bool { return a.Equal(&b) },
)

func equalTaints(a, b []clusterv1.Taint) bool { return equality.Semantic.DeepEqual(a, b) }
