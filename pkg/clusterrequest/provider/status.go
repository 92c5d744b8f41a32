// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// unknownState is the state of a cluster that the provider could not look at. A healthy one stays healthy, because the failure is that of
// the look.
func unknownState(cluster *openmcpv1alpha1.Cluster, err error) State {
	state := State{Reason: reasonStateUnknown, Message: err.Error(), Endpoints: cluster.Status.Endpoints, Again: retryInterval}
	health := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
	if health != nil && health.Status == metav1.ConditionTrue {
		state.Healthy, state.Reason, state.Message = true, health.Reason, health.Message
	}
	return state
}

// phase returns the phase of a Cluster.
func phase(cluster *openmcpv1alpha1.Cluster, state State) openmcpv1alpha1.ClusterPhase {
	switch {
	case cluster.DeletionTimestamp != nil:
		return openmcpv1alpha1.ClusterDeleting
	case state.Healthy:
		return openmcpv1alpha1.ClusterSucceeded
	case state.Failed:
		return openmcpv1alpha1.ClusterFailed
	default:
		return openmcpv1alpha1.ClusterPending
	}
}

// ownStatus returns the fields of the status of a Cluster that its provider writes.
func ownStatus(cluster *openmcpv1alpha1.Cluster) openmcpv1alpha1.ClusterStatus {
	own := openmcpv1alpha1.ClusterStatus{Phase: cluster.Status.Phase, Endpoints: cluster.Status.Endpoints}
	own.ObservedGeneration, own.LastReconcileTime = cluster.Status.ObservedGeneration, cluster.Status.LastReconcileTime
	if health := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy); health != nil {
		own.Conditions = []metav1.Condition{*health}
	}
	return own
}

// writeStatus writes the state of a cluster where it has changed.
func (r *clusterReconciler) writeStatus(ctx context.Context, cluster *openmcpv1alpha1.Cluster, state State) error {
	status := ownStatus(cluster)
	status.Phase, status.Endpoints, status.ObservedGeneration = phase(cluster, state), state.Endpoints, cluster.Generation
	health := metav1.Condition{
		Type: openmcpv1alpha1.ConditionClusterHealthy, Status: metav1.ConditionFalse, Reason: state.Reason, Message: state.Message,
		ObservedGeneration: cluster.Generation, LastTransitionTime: metav1.NewTime(r.clock.Now()),
	}
	if state.Healthy {
		health.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&status.Conditions, health)
	return r.applyStatus(ctx, cluster, status)
}

// writePhase writes the phase of a Cluster, and leaves what else the provider has written.
func (r *clusterReconciler) writePhase(ctx context.Context, cluster *openmcpv1alpha1.Cluster, phase openmcpv1alpha1.ClusterPhase) error {
	status := ownStatus(cluster)
	status.Phase = phase
	return r.applyStatus(ctx, cluster, status)
}

// applyStatus writes the fields of the provider where they have changed.
func (r *clusterReconciler) applyStatus(
	ctx context.Context, cluster *openmcpv1alpha1.Cluster, status openmcpv1alpha1.ClusterStatus,
) error {
	if equality.Semantic.DeepEqual(ownStatus(cluster), status) {
		return nil
	}
	now := metav1.NewTime(r.clock.Now())
	status.LastReconcileTime = &now
	return client.IgnoreNotFound(objects.ApplyStatus(ctx, r.writer, cluster, status))
}
