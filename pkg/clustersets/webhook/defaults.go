// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
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
// another value or effect later. A taint that stays without its time gets it back, so that applying a manifest twice works
// (docs/spec/differences.md G4). Null entries are left as they are. A request that sets such a time itself gets an error, whose text is for
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
		added := now

		if before != nil {
			was, allowed := timeOf(taint, before.Spec.Taints)
			if !allowed {
				denied = append(denied, taint.Key)
				continue
			}
			if was != nil {
				added = was.Time
			}
		}

		if !taint.TimeAdded.Time.Equal(added) {
			path := fmt.Sprintf("/spec/taints/%d/timeAdded", i)
			patch = append(patch, jsonpatch.NewOperation("add", path, added.UTC().Format(time.RFC3339)))
		}
	}

	if len(denied) > 0 {
		//nolint:staticcheck // The words are upstream's.
		return nil, fmt.Errorf("It is not allowed to set TimeAdded of Taint %q: leave timeAdded out of a taint that is new or has another "+
			"value or effect than before, and as it is in one that stays", strings.Join(denied, ","))
	}
	return patch, nil
}

// timeOf returns the time that a taint has before an update, nil for a taint that is new or changed, and whether the time that the update
// asks for is allowed: none for a changed taint, and the same or none for an unchanged one. Taints with the same key, value and effect count
// as the same.
func timeOf(taint clusterv1.Taint, before []clusterv1.Taint) (was *metav1.Time, allowed bool) {
	for i := range before {
		old := &before[i]
		switch {
		case old.Key != taint.Key || old.Value != taint.Value || old.Effect != taint.Effect:
		case sameTime(old.TimeAdded, taint.TimeAdded):
			return &old.TimeAdded, true
		case was == nil:
			was = &old.TimeAdded
		}
	}
	return was, taint.TimeAdded.IsZero()
}

// sameTime compares times as the API server stores them. Two unset times are equal.
func sameTime(a, b metav1.Time) bool { return a.Time.Equal(b.Time) }

// Accepts reports whether a request sets hubAcceptsClient, which was not set before. before is nil when the cluster is being created.
func Accepts(cluster, before *clusterv1.ManagedCluster) bool {
	return cluster.Spec.HubAcceptsClient && (before == nil || !before.Spec.HubAcceptsClient)
}
