// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// reasonGranted is the reason of the Event on a request that is granted, and action that of all Events of this package.
const (
	reasonGranted = "Granted"
	action        = "GrantCluster"
)

// writeStatus writes the outcome of a request where it has changed. The condition ClusterReady is nil for a request without a Grant.
func (r *reconciler) writeStatus(
	ctx context.Context, request *openmcpv1alpha1.ClusterRequest, result clusterrequest.Result, ready *metav1.Condition,
) error {
	now := metav1.NewTime(r.clock.Now())

	written, err := objects.PatchStatus(ctx, r.writer, request, func(changed *openmcpv1alpha1.ClusterRequest) {
		status := &changed.Status
		status.Status, status.Reason, status.Message, status.ObservedGeneration = result.Status, result.Reason, result.Message, request.Generation
		if ready == nil {
			meta.RemoveStatusCondition(&status.Conditions, openmcpv1alpha1.ConditionClusterReady)
		} else {
			ready.LastTransitionTime = now
			meta.SetStatusCondition(&status.Conditions, *ready)
		}
	}, func(changed *openmcpv1alpha1.ClusterRequest) { changed.Status.LastReconcileTime = &now })
	if err != nil || written == request {
		return err
	}

	r.written.WroteAt(client.ObjectKeyFromObject(written), written.ResourceVersion)
	if before := request.Status; before.Status != result.Status || before.Reason != result.Reason || before.Message != result.Message {
		r.tell(request, result)
	}
	return nil
}

// tell sends the Event about a new outcome of a request.
func (r *reconciler) tell(request *openmcpv1alpha1.ClusterRequest, result clusterrequest.Result) {
	eventType, reason := corev1.EventTypeWarning, result.Reason
	if result.Status == openmcpv1alpha1.RequestGranted {
		eventType, reason = corev1.EventTypeNormal, reasonGranted
	}
	r.recorder.Eventf(referenceTo(request, "ClusterRequest"), nil, eventType, reason, action, "%s", result.Message)
}
