package clusterset

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

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
)

// ClusterSetRoles is the name of the controller that keeps the ClusterRoles of sets.
const ClusterSetRoles = "clusterset-roles"

// clusterSetRolesReconciler keeps the ClusterRoles of every set (docs/spec/consumers.md U17). It deletes none: they belong to the set, and
// the garbage collector deletes them after it.
type clusterSetRolesReconciler struct {
	client    client.Client
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// SetupClusterSetRoles adds the controller ClusterSetRoles to the manager.
func SetupClusterSetRoles(mgr manager.Manager, s queue.Settings) error {
	r := &clusterSetRolesReconciler{client: mgr.GetClient(), conflicts: queue.NewConflictBackoff[reconcile.Request]()}

	// The roles of a set depend on nothing but which set it is. A set that was deleted and made again may show as one that changed.
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

// roleDiffers tells of a role that is not as the hub keeps it, so that what it has just written does not wake it, when it may not see all
// of that yet.
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

// setOfRole names the set that a ClusterRole is about, whoever made it: a role in the way of ours may have gone.
func setOfRole(_ context.Context, role client.Object) []reconcile.Request {
	set, found := setOfRoleName(role.GetName())
	if !found {
		return nil
	}

	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: set}}}
}

// Reconcile makes the roles of one set, and puts back what was changed in them.
func (r *clusterSetRolesReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &clusterv1beta2.ManagedClusterSet{}

	err := r.client.Get(ctx, request.NamespacedName, set)
	if apierrors.IsNotFound(err) || err == nil && !set.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // A role that was made now could outlive the set.
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

// apply makes a role that is not there, puts back one that is ours, and leaves one that is not.
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

	if equalRoles(known, role) || !known.DeletionTimestamp.IsZero() { // It is made again when it is gone.
		return nil
	}

	changed := known.DeepCopy()
	changed.Rules, changed.OwnerReferences = role.Rules, role.OwnerReferences

	if err := r.client.Update(ctx, changed); err != nil {
		return fmt.Errorf("putting ClusterRole %s back: %w", role.Name, err)
	}

	return nil
}
