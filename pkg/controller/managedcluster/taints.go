package managedcluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

// availabilityTaint is the key of the taint that a cluster with these conditions is to have, "" for none
// (docs/spec/upstream-placement.md 1.4c).
func availabilityTaint(conditions []metav1.Condition) string {
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

// withAvailabilityTaint are the taints of a cluster with the one of key, or with neither of the two when key is "". It leaves the others and
// their order alone, and keeps the one of key as it is when it is right; one that is put right keeps its place, and a new one comes last.
// Either of these was added at the time now.
func withAvailabilityTaint(taints []clusterv1.Taint, key string, now metav1.Time) []clusterv1.Taint {
	right := clusterv1.Taint{Key: key, Effect: clusterv1.TaintEffectNoSelect, TimeAdded: now}

	if kept := slices.IndexFunc(taints, func(t clusterv1.Taint) bool { return equalIgnoringTime(t, right) }); kept >= 0 {
		right = taints[kept]
	}

	wanted := make([]clusterv1.Taint, 0, len(taints)+1)
	placed := key == ""

	for _, taint := range taints {
		switch taint.Key {
		case clusterv1.ManagedClusterTaintUnavailable, clusterv1.ManagedClusterTaintUnreachable:
			if taint.Key == key && !placed {
				wanted, placed = append(wanted, right), true
			}
		default:
			wanted = append(wanted, taint)
		}
	}

	if !placed {
		wanted = append(wanted, right)
	}

	return wanted
}

func equalIgnoringTime(a, b clusterv1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

// withDesiredTaints is a copy of a cluster with the taint that its condition asks for, nil when it has that already or is being deleted.
func withDesiredTaints(cluster *clusterv1.ManagedCluster, now metav1.Time) *clusterv1.ManagedCluster {
	// A list of which something could not be read would lose it when it is written.
	if !cluster.DeletionTimestamp.IsZero() || len(unreadable.Of(cluster).Under("spec.taints")) > 0 {
		return nil
	}

	wanted := withAvailabilityTaint(cluster.Spec.Taints, availabilityTaint(cluster.Status.Conditions), now)
	if equality.Semantic.DeepEqual(wanted, cluster.Spec.Taints) {
		return nil
	}

	changed := cluster.DeepCopy()
	changed.Spec.Taints = wanted

	return changed
}
