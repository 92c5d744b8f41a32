// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// withAvailabilityTaint returns the taints of a cluster with the availability taint of this key, or without any for "". It keeps all other
// taints and the order. A correct taint stays unchanged; a corrected one keeps its place and a new one comes last, both with the time now.
func withAvailabilityTaint(taints []clusterv1.Taint, key string, now metav1.Time) []clusterv1.Taint {
	right := clusterv1.Taint{Key: key, Effect: clusterv1.TaintEffectNoSelect, TimeAdded: now}
	if kept := slices.IndexFunc(taints, func(t clusterv1.Taint) bool { return equalIgnoringTime(t, right) }); kept >= 0 {
		right = taints[kept]
	}
	wanted := make([]clusterv1.Taint, 0, len(taints)+1)
	placed := key == ""

	for _, taint := range taints {
		switch {
		case !clustersets.IsAvailabilityTaint(taint):
			wanted = append(wanted, taint)
		case taint.Key == key && !placed:
			wanted, placed = append(wanted, right), true
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

// withDesiredTaints returns a copy of a ManagedCluster with the taint that its condition requires; nil if it needs no change or its taints may
// not be written.
func withDesiredTaints(cluster *clusterv1.ManagedCluster, now metav1.Time) *clusterv1.ManagedCluster {
	if !clustersets.IsTaintable(cluster) {
		return nil
	}
	wanted := withAvailabilityTaint(cluster.Spec.Taints, clustersets.AvailabilityTaint(cluster.Status.Conditions), now)
	if equality.Semantic.DeepEqual(wanted, cluster.Spec.Taints) {
		return nil
	}
	changed := cluster.DeepCopy()
	changed.Spec.Taints = wanted
	return changed
}
