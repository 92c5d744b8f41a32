// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// label writes the labels that name provider and profile, or removes them if there are none.
func (r *reconciler) label(ctx context.Context, access *openmcpv1alpha1.AccessRequest, labels map[string]string) error {
	labelled := access.DeepCopy()
	delete(labelled.Labels, openmcpv1alpha1.ProviderLabel)
	delete(labelled.Labels, openmcpv1alpha1.ProfileLabel)
	for label, value := range labels {
		metav1.SetMetaDataLabel(&labelled.ObjectMeta, label, value)
	}
	if err := objects.Patch(ctx, r.writer, access, labelled); err != nil {
		return fmt.Errorf("writing the labels of AccessRequest %s: %w", client.ObjectKeyFromObject(access), err)
	}
	access.ObjectMeta = labelled.ObjectMeta
	return nil
}

// usableMessages are those of the condition PurposesUsable.
var usableMessages = map[metav1.ConditionStatus]string{
	metav1.ConditionTrue:  "the requester can use the Purposes of the ClusterRequest: the access ends when one of these permissions is gone",
	metav1.ConditionFalse: "the requester cannot use all Purposes of the ClusterRequest: the access does not depend on these permissions",
}

// writeStatus writes a resolution into the status of an AccessRequest. changed has the metadata as it was written, and the
// Cluster of the resolution.
func (r *reconciler) writeStatus(
	ctx context.Context, access, changed *openmcpv1alpha1.AccessRequest, resolution clusterrequest.AccessResolution,
) error {
	status := &changed.Status
	if resolution.Usable != "" {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: openmcpv1alpha1.ConditionPurposesUsable, Status: resolution.Usable, Reason: "Reviewed", Message: usableMessages[resolution.Usable],
			ObservedGeneration: access.Generation, LastTransitionTime: metav1.NewTime(r.clock.Now()),
		})
	}
	if clusterrequest.AccessResolved(access) && (resolution.Resolved == "" || sameCondition(access, resolution)) {
		if resolution.Usable == "" {
			return nil
		}
		return r.patchStatus(ctx, access, changed) // The rest is the provider's.
	}
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
	before := *changed
	before.Status = access.Status
	_, err := objects.PatchStatus(ctx, r.writer, &before,
		func(written *openmcpv1alpha1.AccessRequest) { written.Status = changed.Status },
		func(written *openmcpv1alpha1.AccessRequest) {
			written.Status.LastReconcileTime = ptr.To(metav1.NewTime(r.clock.Now()))
		})
	return err
}
