// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// ManagedClusterTaints is the name of the controller that writes the taints unavailable and unreachable of ManagedClusters.
const ManagedClusterTaints = "managedcluster-taints"

// AvailabilityTaint returns the key of the taint for a cluster with these conditions; "" for none (docs/spec/upstream-placement.md 1.4c).
func AvailabilityTaint(conditions []metav1.Condition) string {
	available := meta.FindStatusCondition(conditions, clusterv1.ManagedClusterConditionAvailable)
	switch {
	case available != nil && available.Status == metav1.ConditionTrue:
		return ""
	case available != nil && available.Status == metav1.ConditionFalse:
		return clusterv1.ManagedClusterTaintUnavailable
	default:
		return clusterv1.ManagedClusterTaintUnreachable
	}
}

// IsAvailabilityTaint reports whether a taint is one of the two that ManagedClusterTaints maintains.
func IsAvailabilityTaint(taint clusterv1.Taint) bool {
	return taint.Key == clusterv1.ManagedClusterTaintUnavailable || taint.Key == clusterv1.ManagedClusterTaintUnreachable
}

// IsJudged reports whether ManagedClusterTaints, or the agent of a cluster, has said something about its availability: the cluster has a
// condition or one of the two taints.
func IsJudged(cluster *clusterv1.ManagedCluster) bool {
	return meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable) != nil ||
		slices.ContainsFunc(cluster.Spec.Taints, IsAvailabilityTaint)
}

// IsTaintable reports whether ManagedClusterTaints may write the taints of a cluster. It leaves a cluster alone that is being deleted, and one
// whose taints or conditions could not be decoded: writing the list would lose taints, and nothing leaves for a field that cannot be read.
func IsTaintable(cluster *clusterv1.ManagedCluster) bool {
	fields := unreadable.Of(cluster)
	return cluster.DeletionTimestamp.IsZero() && len(fields.Under("spec.taints"))+len(fields.Under("status.conditions")) == 0
}

// WithAssumedTaint returns a cluster with the taint that ManagedClusterTaints is about to write, and the given object if there is none
// (docs/spec/differences.md B20). The taint of a cluster that is not judged counts at once. That of a cluster that reports a condition is
// pending, because the controller may wait before it adds the taint: decisions keep the cluster, and no other decision selects it.
func WithAssumedTaint(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	key := AvailabilityTaint(cluster.Status.Conditions)
	if key == "" || !IsTaintable(cluster) || slices.ContainsFunc(cluster.Spec.Taints, IsAvailabilityTaint) {
		return cluster
	}
	assumed := clusterv1.Taint{Key: key, Effect: clusterv1.TaintEffectNoSelect, TimeAdded: clusterinfo.UnknownTime()}
	if IsJudged(cluster) {
		assumed.TimeAdded = clusterinfo.PendingTime()
	}
	return withTaint(cluster, assumed)
}
