package access

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// label writes the labels that name provider and profile, or removes them if there are none.
func (r *reconciler) label(ctx context.Context, access *openmcpv1alpha1.AccessRequest, labels map[string]string) error {
	labelled := access.DeepCopy()
	delete(labelled.Labels, openmcpv1alpha1.ProviderLabel)
	delete(labelled.Labels, openmcpv1alpha1.ProfileLabel)

	for label, value := range labels {
		metav1.SetMetaDataLabel(&labelled.ObjectMeta, label, value)
	}

	if maps.Equal(access.Labels, labelled.Labels) {
		return nil
	}

	err := r.writer.Patch(ctx, labelled, client.MergeFromWithOptions(access, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("write the labels of AccessRequest %s: %w", client.ObjectKeyFromObject(access), err)
	}

	access.ObjectMeta = labelled.ObjectMeta

	return nil
}

// writeStatus writes a resolution into the status of an AccessRequest. changed has the metadata as it was written, and the
// Cluster of the resolution.
func (r *reconciler) writeStatus(
	ctx context.Context, access, changed *openmcpv1alpha1.AccessRequest, resolution clusterrequest.AccessResolution,
) error {
	if clusterrequest.AccessResolved(access) && (resolution.Resolved == "" || sameCondition(access, resolution)) {
		return nil // The rest is the provider's.
	}

	status := &changed.Status
	status.Status, status.Reason, status.Message, status.ObservedGeneration =
		resolution.Status, resolution.Reason, resolution.Message, access.Generation

	if resolution.Resolved != "" {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: openmcpv1alpha1.ConditionResolved, Status: resolution.Resolved, Reason: resolution.Reason, Message: resolution.ConditionMessage(),
			ObservedGeneration: access.Generation, LastTransitionTime: metav1.NewTime(r.clock.Now()),
		})
	}

	if err := r.patchStatus(ctx, access, changed); err != nil {
		return err
	}

	if resolution.Resolved == metav1.ConditionFalse && access.Status.SecretRef != nil {
		r.recorder.Eventf(access, nil, corev1.EventTypeWarning, "AccessRemoved", "ResolveAccessRequest", "%s: the access is removed",
			resolution.Message)
	}

	return nil
}

// sameCondition reports whether the condition Resolved says what a resolution says.
func sameCondition(access *openmcpv1alpha1.AccessRequest, resolution clusterrequest.AccessResolution) bool {
	condition := meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionResolved)

	return condition.Status == resolution.Resolved && condition.Reason == resolution.Reason
}

// writeFailure writes an error into the status of an AccessRequest, unless its status is the provider's.
func (r *reconciler) writeFailure(ctx context.Context, access *openmcpv1alpha1.AccessRequest, failure error) error {
	return r.writeStatus(ctx, access, access.DeepCopy(), clusterrequest.AccessResolution{Result: clusterrequest.Result{
		Status: openmcpv1alpha1.RequestPending, Reason: openmcpv1alpha1.ReasonError, Message: failure.Error(),
	}})
}

// patchStatus writes the status of changed, if it is not that of access.
func (r *reconciler) patchStatus(ctx context.Context, access, changed *openmcpv1alpha1.AccessRequest) error {
	if equality.Semantic.DeepEqual(access.Status, changed.Status) {
		return nil
	}

	before := changed.DeepCopy()
	before.Status = access.Status

	now := metav1.NewTime(r.clock.Now())
	changed.Status.LastReconcileTime = &now

	err := r.writer.Status().Patch(ctx, changed, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("write the status of AccessRequest %s: %w", client.ObjectKeyFromObject(access), err)
	}

	return nil
}
