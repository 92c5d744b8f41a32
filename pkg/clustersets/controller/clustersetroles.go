// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// ClusterSetRoles is the name of the controller that writes the ClusterRoles of ManagedClusterSets.
const ClusterSetRoles = "clusterset-roles"

// clusterSetRolesReconciler writes the ClusterRoles of every ManagedClusterSet (docs/spec/consumers.md U17). It deletes none: the set owns
// them, and the garbage collector deletes them after it.
type clusterSetRolesReconciler struct {
	client    client.Client
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupClusterSetRoles adds the controller ClusterSetRoles to the manager. It returns an error if a watch cannot be added.
func SetupClusterSetRoles(mgr manager.Manager, s queue.Settings) error {
	r := &clusterSetRolesReconciler{client: mgr.GetClient(), conflicts: queue.NewConflictBackoff[reconcile.Request]()}

	// The roles depend only on the name and the UID of the set. A set that was deleted and created again may appear as an update.
	identity := predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(ClusterSetRoles).
							For(&clusterv1beta2.ManagedClusterSet{}, builder.WithPredicates(identity)).
							Watches(&rbacv1.ClusterRole{}, handler.EnqueueRequestsFromMapFunc(setOfRole), builder.WithPredicates(roleDiffers())).
							WithOptions(queue.Options[reconcile.Request](s)).
							Complete(r)
}

// roleDiffers returns a predicate that passes ClusterRoles which differ from what the hub writes. The hub's own writes pass nothing, which
// matters while the cache does not show all of them yet.
func roleDiffers() predicate.Predicate {
	strays := func(object client.Object) bool {
		role, ok := object.(*rbacv1.ClusterRole)
		return !ok || !upToDate(role)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return strays(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return strays(e.ObjectNew) },
	}
}

// setOfRole returns a request for the set in the name of a ClusterRole, also if another user created the role: a foreign role that
// blocked the name may be deleted.
func setOfRole(_ context.Context, role client.Object) []reconcile.Request {
	set, found := setOfRoleName(role.GetName())
	if !found {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: set}}}
}

// Reconcile creates the ClusterRoles of a ManagedClusterSet, and reverts changes of them.
func (r *clusterSetRolesReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &clusterv1beta2.ManagedClusterSet{}

	err := r.client.Get(ctx, request.NamespacedName, set)
	if apierrors.IsNotFound(err) || err == nil && !set.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // A role that is created now could outlive the set.
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ManagedClusterSet %s: %w", request.Name, err)
	}
	var errs []error

	for _, role := range rolesOf(set) {
		if err := r.apply(ctx, role); err != nil {
			errs = append(errs, err)
		}
	}
	return r.conflicts.Result(ctx, request, errors.Join(errs...))
}

// apply creates a ClusterRole that is missing and reverts changes of a role that this hub manages. It leaves other roles alone.
func (r *clusterSetRolesReconciler) apply(ctx context.Context, role *rbacv1.ClusterRole) error {
	known := &rbacv1.ClusterRole{}

	err := r.client.Get(ctx, client.ObjectKeyFromObject(role), known)
	if apierrors.IsNotFound(err) {
		if err := r.client.Create(ctx, role); err != nil {
			return fmt.Errorf("creating ClusterRole %s: %w", role.Name, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterRole %s: %w", role.Name, err)
	}

	if !managed(known) {
		klog.FromContext(ctx).V(2).Info("Leaving a ClusterRole alone that somebody else made; to have it kept for the set, delete it",
			"clusterRole", klog.KObj(known))
		return nil
	}
	if equalRoles(known, role) || !known.DeletionTimestamp.IsZero() { // The deletion event enqueues the set again.
		return nil
	}
	changed := known.DeepCopy()
	changed.Rules, changed.OwnerReferences = role.Rules, role.OwnerReferences

	if err := r.client.Update(ctx, changed); err != nil {
		return fmt.Errorf("putting ClusterRole %s back: %w", role.Name, err)
	}
	return nil
}
