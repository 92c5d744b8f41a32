// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// Tenants is the name of the controller of Tenants.
const Tenants = "affinityclass/tenants"

// tenantReconciler keeps the workload namespace, the Secret and the conditions of every Tenant.
type tenantReconciler struct {
	*state

	conflicts queue.ConflictBackoff[reconcile.Request]
}

// setupTenants adds the controller Tenants to the manager.
func (s *state) setupTenants(mgr manager.Manager, settings queue.Settings) error {
	r := &tenantReconciler{s, queue.NewConflictBackoff[reconcile.Request]()}
	// The cache also has the Secret with the certificates of the hub.
	values := predicate.NewPredicateFuncs(func(secret client.Object) bool { return secret.GetName() == affinityclass.ValuesSecret })
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Tenants).
							For(&appsv1alpha1.Tenant{}). // With its status: the cache may have shown it without the last write.
							Watches(&appsv1alpha1.Tenant{}, handler.EnqueueRequestsFromMapFunc(r.concerned),
			builder.WithPredicates(updated(differs))).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.ownerOfName),
			builder.WithPredicates(updated(namespaceDiffers))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.ownerOfNamespace),
			builder.WithPredicates(predicate.And(values, updated(secretDiffers)))).
		Watches(newObject(affinityclass.ReleaseKind), handler.EnqueueRequestsFromMapFunc(r.ownerOfNamespace),
			builder.WithPredicates(updated(classDiffers))).
		WithOptions(queue.Options[reconcile.Request](settings)).
		Complete(r)
}

// concerned returns requests for a Tenant and for all whose settings may depend on it.
func (r *tenantReconciler) concerned(ctx context.Context, tenant client.Object) []reconcile.Request {
	r.TenantsChanged()
	all, err := reader.Tenants(ctx, r.Cached)
	if err != nil {
		// A List from the cache fails only when the cache stops; the next start enqueues every Tenant.
		klog.FromContext(ctx).Error(err, "Listing the Tenants that depend on a Tenant", "tenant", klog.KObj(tenant))
		return nil
	}
	requests := []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(tenant)}}

	for _, other := range all {
		if concerns(other, owned(tenant)) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)})
		}
	}
	return requests
}

func (r *tenantReconciler) ownerOfName(ctx context.Context, namespace client.Object) []reconcile.Request {
	return r.ownerOf(ctx, namespace.GetName())
}

func (r *tenantReconciler) ownerOfNamespace(ctx context.Context, object client.Object) []reconcile.Request {
	return r.ownerOf(ctx, object.GetNamespace())
}

// ownerOf returns a request for the Tenant that owns a namespace.
func (r *tenantReconciler) ownerOf(ctx context.Context, namespace string) []reconcile.Request {
	tree, err := r.Tree(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Looking for the Tenant of a namespace", "namespace", namespace)
		return nil
	}
	owner := tree.Owner(namespace)
	if owner == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(owner)}}
}

// Reconcile writes what a Tenant needs. Namespace and Secret of a Tenant that is deleted stay.
func (r *tenantReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	tenant := &appsv1alpha1.Tenant{}
	err := r.Cached.Get(ctx, request.NamespacedName, tenant)
	if apierrors.IsNotFound(err) || err == nil && !tenant.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading Tenant %s: %w", request, err)
	}
	return r.conflicts.Result(ctx, request, r.sync(ctx, tenant))
}

// sync writes namespace, Secret and status of a Tenant. A failure of the Secret keeps the other condition from nothing.
func (r *tenantReconciler) sync(ctx context.Context, tenant *appsv1alpha1.Tenant) error {
	tree, err := r.Tree(ctx)
	if err != nil {
		return err
	}
	compliant, err := r.compliance(ctx, tree, tenant)
	if err != nil {
		return err
	}
	conditions := []metav1.Condition{compliant}

	written, failed := r.writeValues(ctx, tree, tenant)
	if failed == nil {
		conditions = append(conditions, written)
	}
	return errors.Join(failed, r.writeConditions(ctx, tenant, conditions))
}

// compliance returns the condition AffinityClassesCompliant.
func (r *tenantReconciler) compliance(ctx context.Context, tree *affinityclass.Tree, tenant *appsv1alpha1.Tenant) (metav1.Condition, error) {
	labelled, err := reader.Releases(ctx, r.Cached, client.InNamespace(owned(tenant)), withClass)
	if err != nil {
		return metav1.Condition{}, err
	}
	applications := make([]affinityclass.ApplicationClass, 0, len(labelled))

	for _, release := range labelled {
		if kind, name, found := affinityclass.ApplicationOf(release.GetLabels()); found {
			applications = append(applications, affinityclass.ApplicationClass{
				Application: kind.Kind + "/" + name, Class: release.GetLabels()[affinityclass.ClassLabel],
			})
		}
	}
	compliant, reason, message := tree.Compliance(tenant, applications)
	return newCondition(appsv1alpha1.ConditionAffinityClassesCompliant, compliant, reason, message), nil
}

func newCondition(kind string, holds bool, reason, message string) metav1.Condition {
	condition := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if holds {
		condition.Status = metav1.ConditionTrue
	}
	return condition
}

// writeConditions writes conditions of a Tenant that have changed.
func (r *tenantReconciler) writeConditions(ctx context.Context, tenant *appsv1alpha1.Tenant, conditions []metav1.Condition) error {
	_, err := objects.PatchStatus(ctx, r.writer, tenant, func(changed *appsv1alpha1.Tenant) {
		for _, condition := range conditions {
			condition.ObservedGeneration = tenant.Generation
			condition.LastTransitionTime = metav1.NewTime(r.clock.Now())
			meta.SetStatusCondition(&changed.Status.Conditions, condition)
		}
	})
	return err
}
