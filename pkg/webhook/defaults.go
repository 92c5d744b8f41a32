package webhook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// DefaultSet is the set of every cluster that names no other.
const DefaultSet = "default"

// Defaults returns the JSON patch that a ManagedCluster needs, nil for none. before is nil when the cluster is being created.
//
// Taints bear the time, in seconds, at which they were added: now for all taints of a new cluster, and for those that are added or get
// another value or effect later. An entry that is empty is no taint, and is left as it is. The error of a request that sets such a time
// itself is meant for who sent it. A cluster without a set is in the set DefaultSet, unless it is being deleted.
func Defaults(cluster, before *clusterv1.ManagedCluster, now time.Time) ([]jsonpatch.JsonPatchOperation, error) {
	patch, err := stampTaints(cluster.Spec.Taints, before, now.UTC().Truncate(time.Second))
	if err != nil {
		return nil, err
	}

	return append(defaultSet(cluster), patch...), nil
}

// LacksSet reports whether a cluster is to be put into the set DefaultSet.
func LacksSet(cluster *clusterv1.ManagedCluster) bool {
	return cluster.DeletionTimestamp.IsZero() && cluster.Labels[clusterv1beta2.ClusterSetLabel] == ""
}

func defaultSet(cluster *clusterv1.ManagedCluster) []jsonpatch.JsonPatchOperation {
	switch {
	case !LacksSet(cluster):
		return nil
	case cluster.Labels == nil: // There is nothing to add a label to.
		labels := map[string]any{clusterv1beta2.ClusterSetLabel: DefaultSet}

		return []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/metadata/labels", labels)}
	default:
		path := "/metadata/labels/" + strings.ReplaceAll(clusterv1beta2.ClusterSetLabel, "/", "~1")

		return []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", path, DefaultSet)}
	}
}

func stampTaints(taints []clusterv1.Taint, before *clusterv1.ManagedCluster, now time.Time) ([]jsonpatch.JsonPatchOperation, error) {
	var (
		patch  []jsonpatch.JsonPatchOperation
		denied []string
	)

	for i, taint := range taints {
		if taint == (clusterv1.Taint{}) { // It is null, and a patch cannot change that: the API server says what is wrong with it.
			continue
		}

		stamp := true

		if before != nil {
			var allowed bool
			if stamp, allowed = changed(taint, before.Spec.Taints); !allowed {
				denied = append(denied, taint.Key)

				continue
			}
		}

		if stamp && !taint.TimeAdded.Time.Equal(now) {
			path := fmt.Sprintf("/spec/taints/%d/timeAdded", i)
			patch = append(patch, jsonpatch.NewOperation("add", path, now.Format(time.RFC3339)))
		}
	}

	if len(denied) > 0 {
		//nolint:staticcheck // The words are upstream's.
		return nil, fmt.Errorf("It is not allowed to set TimeAdded of Taint %q: leave timeAdded out of a taint that is new or has another "+
			"value or effect than before, and as it is in one that stays", strings.Join(denied, ","))
	}

	return patch, nil
}

// changed reports whether a taint is another one than before, and whether its time is allowed then: none in one that changed, the same in
// one that did not. Taints are told apart by key; where a key has several, one of them that stays as it is counts as such.
func changed(taint clusterv1.Taint, before []clusterv1.Taint) (change, allowed bool) {
	same := func(old clusterv1.Taint) bool {
		return old.Key == taint.Key && old.Value == taint.Value && old.Effect == taint.Effect
	}
	if !slices.ContainsFunc(before, same) {
		return true, taint.TimeAdded.IsZero()
	}

	return false, slices.ContainsFunc(before, func(old clusterv1.Taint) bool {
		return same(old) && sameTime(old.TimeAdded, taint.TimeAdded)
	})
}

// sameTime compares what is left of times in an object that the API server stores. Two times that are not set are the same.
func sameTime(a, b metav1.Time) bool { return a.Time.Equal(b.Time) }

// Accepts reports whether a request lets a cluster join the hub that could not before. before is nil when it is being created.
func Accepts(cluster, before *clusterv1.ManagedCluster) bool {
	return cluster.Spec.HubAcceptsClient && (before == nil || !before.Spec.HubAcceptsClient)
}
