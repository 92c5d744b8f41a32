// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

const (
	// Limits is the name of the controller of the condition WithinLimits.
	Limits = "podscheduling/limits"
	// FieldManager is the field manager of its writes.
	FieldManager = "placement-hub"
)

// limitsReconciler keeps the condition WithinLimits of the PodSchedulingPolicies of a namespace. Its requests name namespaces.
type limitsReconciler struct {
	cached    client.Reader
	writer    client.Client
	clock     clock.PassiveClock
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupLimits adds the controller Limits to the manager.
func SetupLimits(mgr manager.Manager, settings queue.Settings) error {
	r := &limitsReconciler{
		cached: mgr.GetCache(), writer: client.WithFieldOwner(mgr.GetClient(), FieldManager), clock: settings.Clock,
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Limits).
							Watches(&kupidv1alpha1.PodSchedulingPolicy{}, handler.EnqueueRequestsFromMapFunc(namespaceOf)).
							WithOptions(queue.Options[reconcile.Request](settings)).
							Complete(r)
}

func namespaceOf(_ context.Context, policy client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: policy.GetNamespace()}}}
}

// Reconcile writes the condition of the policies of a namespace where it differs.
func (r *limitsReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var list kupidv1alpha1.PodSchedulingPolicyList
	if err := r.cached.List(ctx, &list, client.InNamespace(request.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing the PodSchedulingPolicies of namespace %s: %w", request.Namespace, err)
	}
	slices.SortFunc(list.Items, func(a, b kupidv1alpha1.PodSchedulingPolicy) int { return cmp.Compare(a.Name, b.Name) })
	beyond := webhook.BeyondLimits(list.Items)

	for i := range list.Items {
		if err := r.write(ctx, &list.Items[i], beyond[list.Items[i].Name]); err != nil {
			return r.conflicts.Result(ctx, request, err)
		}
	}
	return r.conflicts.Result(ctx, request, nil)
}

// write sets the condition of a policy that is beyond the limits for a reason, and removes it for an empty one. It sends nothing if the
// condition is right, or the policy is being deleted.
func (r *limitsReconciler) write(ctx context.Context, policy *kupidv1alpha1.PodSchedulingPolicy, reason string) error {
	if !policy.DeletionTimestamp.IsZero() {
		return nil
	}
	_, err := objects.PatchStatus(ctx, r.writer, policy, func(changed *kupidv1alpha1.PodSchedulingPolicy) {
		if reason == "" {
			meta.RemoveStatusCondition(&changed.Status.Conditions, kupidv1alpha1.ConditionWithinLimits)
			return
		}
		meta.SetStatusCondition(&changed.Status.Conditions, metav1.Condition{
			Type: kupidv1alpha1.ConditionWithinLimits, Status: metav1.ConditionFalse, Reason: kupidv1alpha1.ReasonTooManyTerms,
			Message: reason, ObservedGeneration: policy.Generation, LastTransitionTime: metav1.NewTime(r.clock.Now()),
		})
	})

	return client.IgnoreNotFound(err)
}
