// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// writeOutcome writes what came of the present generation of an AccessRequest.
func (r *reconciler) writeOutcome(
	ctx context.Context, request *openmcpv1alpha1.AccessRequest, outcome refusal, secret *openmcpv1alpha1.ObjectName,
) error {
	return r.writeStatus(ctx, request, func(status *openmcpv1alpha1.AccessRequestStatus) {
		status.Status, status.Reason, status.Message = outcome.phase, outcome.reason, outcome.message
		status.ObservedGeneration, status.SecretRef = request.Generation, secret
	})
}

// writeFailure writes an error into the status. An AccessRequest that is granted stays granted, because its access works as before.
func (r *reconciler) writeFailure(ctx context.Context, request *openmcpv1alpha1.AccessRequest, failure error) error {
	if request.DeletionTimestamp == nil && clusterrequest.AccessGranted(request) {
		return nil
	}
	return r.writeOutcome(ctx, request, refusal{
		phase: openmcpv1alpha1.RequestPending, reason: openmcpv1alpha1.ReasonError, message: failure.Error(),
	}, request.Status.SecretRef)
}

// writeNoSecret removes the reference to the Secret from the status, and leaves the rest to the hub.
func (r *reconciler) writeNoSecret(ctx context.Context, request *openmcpv1alpha1.AccessRequest) error {
	return r.writeStatus(ctx, request, func(status *openmcpv1alpha1.AccessRequestStatus) { status.SecretRef = nil })
}

// writeStatus writes a change of the status, if it is one, also to the given copy.
func (r *reconciler) writeStatus(
	ctx context.Context, request *openmcpv1alpha1.AccessRequest, change func(*openmcpv1alpha1.AccessRequestStatus),
) error {
	written, err := objects.PatchStatus(ctx, r.writer, request,
		func(changed *openmcpv1alpha1.AccessRequest) { change(&changed.Status) },
		func(changed *openmcpv1alpha1.AccessRequest) {
			changed.Status.LastReconcileTime = ptr.To(metav1.NewTime(r.Clock.Now()))
		})
	*request = *written
	return err
}
