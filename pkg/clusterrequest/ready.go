// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Reasons of the condition ClusterReady beyond those of the provider.
const (
	// ReasonClusterNotFound means that the Cluster of the Grant does not exist, and is about to be created again.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonHealthUnknown means that the provider has not reported the health of the Cluster.
	ReasonHealthUnknown = "HealthUnknown"
)

// ClusterReady returns the condition of a granted request: it follows the health that the provider reports of the Cluster, which is nil if
// it does not exist. The condition has no transition time.
func ClusterReady(request *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster) metav1.Condition {
	ready := metav1.Condition{
		Type: openmcpv1alpha1.ConditionClusterReady, Status: metav1.ConditionFalse, ObservedGeneration: request.Generation,
	}
	if cluster == nil {
		ready.Reason, ready.Message = ReasonClusterNotFound, "the Cluster does not exist, and is created again"
		return ready
	}
	health := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
	switch {
	case cluster.DeletionTimestamp != nil:
		ready.Reason = openmcpv1alpha1.ReasonClusterTerminating
		ready.Message = fmt.Sprintf("Cluster %s is being deleted: create another ClusterRequest to get another one", keyOf(cluster))
	case health == nil:
		ready.Status, ready.Reason = metav1.ConditionUnknown, ReasonHealthUnknown
		ready.Message = fmt.Sprintf("ClusterProvider %s has not reported the health of Cluster %s", cluster.Spec.ClusterProviderRef.Name,
			keyOf(cluster))
	default:
		ready.Status, ready.Reason, ready.Message = health.Status, cmp.Or(health.Reason, ReasonHealthUnknown), health.Message
	}

	return ready
}
