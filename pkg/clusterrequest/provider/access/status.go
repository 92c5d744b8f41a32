package access

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
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

// writeStatus writes a change of the status, if it is one.
func (r *reconciler) writeStatus(
	ctx context.Context, request *openmcpv1alpha1.AccessRequest, change func(*openmcpv1alpha1.AccessRequestStatus),
) error {
	before := request.DeepCopy()
	change(&request.Status)

	if equality.Semantic.DeepEqual(before.Status, request.Status) {
		return nil
	}

	now := metav1.NewTime(r.Clock.Now())
	request.Status.LastReconcileTime = &now

	err := r.writer.Status().Patch(ctx, request, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("write the status of AccessRequest %s: %w", client.ObjectKeyFromObject(request), err)
	}

	return nil
}
