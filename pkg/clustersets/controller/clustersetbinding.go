// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// ClusterSetBinding is the name of the controller that writes the status of ManagedClusterSetBindings.
const ClusterSetBinding = "clustersetbinding"

// bindingSetField is the index of ManagedClusterSetBindings by the name of their set.
const bindingSetField = "spec.clusterSet"

// clusterSetBindingReconciler writes the condition Bound of every ManagedClusterSetBinding, which reports whether its set exists.
type clusterSetBindingReconciler struct {
	client    client.Client
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupClusterSetBinding adds the controller ClusterSetBinding to the manager. It returns an error if the index or a watch cannot be added.
func SetupClusterSetBinding(mgr manager.Manager, s queue.Settings) error {
	r := &clusterSetBindingReconciler{client: mgr.GetClient(), conflicts: queue.NewConflictBackoff[reconcile.Request]()}

	err := mgr.GetFieldIndexer().IndexField(context.Background(), &clusterv1beta2.ManagedClusterSetBinding{}, bindingSetField,
		func(object client.Object) []string {
			if binding, ok := object.(*clusterv1beta2.ManagedClusterSetBinding); ok {
				return []string{binding.Spec.ClusterSet}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("indexing ManagedClusterSetBindings: %w", err)
	}

	// Only creation and deletion change whether a set exists.
	existence := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(ClusterSetBinding).
							For(&clusterv1beta2.ManagedClusterSetBinding{}).
							Watches(&clusterv1beta2.ManagedClusterSet{}, handler.EnqueueRequestsFromMapFunc(r.bindingsOf),
			builder.WithPredicates(existence)).
		WithOptions(queue.Options[reconcile.Request](s)).
		Complete(r)
}

// bindingsOf returns a reconcile request for each ManagedClusterSetBinding of a set.
func (r *clusterSetBindingReconciler) bindingsOf(ctx context.Context, set client.Object) []reconcile.Request {
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}

	err := r.client.List(ctx, bindings, client.MatchingFields{bindingSetField: set.GetName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		// A List from the cache fails only when the cache stops; the next start enqueues every binding.
		klog.FromContext(ctx).Error(err, "Listing the bindings of a set from the cache")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(bindings.Items))
	for i := range bindings.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&bindings.Items[i])})
	}
	return requests
}

// Reconcile writes the condition of a ManagedClusterSetBinding.
func (r *clusterSetBindingReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	binding := &clusterv1beta2.ManagedClusterSetBinding{}

	err := r.client.Get(ctx, request.NamespacedName, binding)
	if apierrors.IsNotFound(err) || err == nil && !binding.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedClusterSetBinding %s: %w", request, err)
	}
	condition := metav1.Condition{
		Type: clusterv1beta2.ClusterSetBindingBoundType, Status: metav1.ConditionTrue, Reason: "ClusterSetBound",
	}

	err = r.client.Get(ctx, types.NamespacedName{Name: binding.Spec.ClusterSet}, &clusterv1beta2.ManagedClusterSet{})
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedClusterSet %s: %w", binding.Spec.ClusterSet, err)
	}
	if err != nil {
		condition.Status, condition.Reason = metav1.ConditionFalse, "ClusterSetNotFound"
	}
	_, err = objects.PatchStatus(ctx, r.client, binding, func(changed *clusterv1beta2.ManagedClusterSetBinding) {
		meta.SetStatusCondition(&changed.Status.Conditions, condition)
	})
	return r.conflicts.Result(ctx, request, err)
}
