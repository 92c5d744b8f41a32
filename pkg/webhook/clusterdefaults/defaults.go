package clusterdefaults

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

// DefaultSet is the ManagedClusterSet of every cluster without a set label.
const DefaultSet = "default"

// Defaults returns the JSON patch that a ManagedCluster needs; nil for none. before is nil when the cluster is being created.
//
// Taints have the time at which they were added, in seconds: now for all taints of a new cluster, and for taints that are added or get
// another value or effect later. Null entries are left as they are. A request that sets such a time itself gets an error, whose text is for
// the user. A cluster without a set joins DefaultSet, unless it is being deleted.
func Defaults(cluster, before *clusterv1.ManagedCluster, now time.Time) ([]jsonpatch.JsonPatchOperation, error) {
	patch, err := stampTaints(cluster.Spec.Taints, before, now.UTC().Truncate(time.Second))
	if err != nil {
		return nil, err
	}

	return append(defaultSet(cluster), patch...), nil
}

// LacksSet reports whether a cluster must be put into DefaultSet.
func LacksSet(cluster *clusterv1.ManagedCluster) bool {
	return cluster.DeletionTimestamp.IsZero() && cluster.Labels[clusterv1beta2.ClusterSetLabel] == ""
}

func defaultSet(cluster *clusterv1.ManagedCluster) []jsonpatch.JsonPatchOperation {
	switch {
	case !LacksSet(cluster):
		return nil
	case cluster.Labels == nil: // A patch can add no label to a missing map.
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
		if taint == (clusterv1.Taint{}) { // A null entry, which no patch can correct; the API server rejects it.
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

// changed reports whether a taint differs from all taints before, and whether its time is allowed: no time for a changed taint, the same
// time for an unchanged one. Taints with the same key, value and effect count as the same.
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

// sameTime compares times as the API server stores them. Two unset times are equal.
func sameTime(a, b metav1.Time) bool { return a.Time.Equal(b.Time) }

// Accepts reports whether a request sets hubAcceptsClient, which was not set before. before is nil when the cluster is being created.
func Accepts(cluster, before *clusterv1.ManagedCluster) bool {
	return cluster.Spec.HubAcceptsClient && (before == nil || !before.Spec.HubAcceptsClient)
}
