// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

const (
	// audienceField is the index of ClusterRoleBindings by the namespaces of their subjects.
	audienceField = "audience"
	// everyNamespace is the index value of ClusterRoleBindings that concern every namespace; it is not a valid name of a namespace.
	everyNamespace = "*"
	// roleField is the index of ClusterRoleBindings by the name of their ClusterRole.
	roleField = "roleRef.name"
)

// SetupClusterSetBindingRBAC adds the controller ClusterSetBindingRBAC to the manager. The cache may be limited to ServiceAccounts named
// scope.Account.
func SetupClusterSetBindingRBAC(mgr manager.Manager, s queue.Settings) error {
	recorder, err := eventwriter.Add(mgr, ClusterSetBindingRBAC, func() bool { return false })
	if err != nil {
		return fmt.Errorf("writing events of ManagedClusterSetBindings: %w", err)
	}
	r := newRBACBindingReconciler(mgr.GetClient(), mgr.GetAPIReader(), recorder, s.Clock)
	if err := indexClusterRoleBindings(mgr); err != nil {
		return err
	}

	// The initial lists of ServiceAccounts and ManagedClusterSetBindings enqueue every namespace that may need a write.
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(ClusterSetBindingRBAC).
							WatchesRawSource(watch(mgr, r, &corev1.ServiceAccount{}, true, r.accountChange)).
							WatchesRawSource(watch(mgr, r, &clusterv1beta2.ManagedClusterSetBinding{}, true, r.bindingChange)).
							WatchesRawSource(watch(mgr, r, &rbacv1.ClusterRoleBinding{}, false, r.clusterRoleBindingChange)).
							WatchesRawSource(watch(mgr, r, &rbacv1.ClusterRole{}, false, r.clusterRoleChange)).
							WatchesRawSource(watch(mgr, r, &clusterv1beta2.ManagedClusterSet{}, false, r.setChange)).
							WatchesRawSource(watch(mgr, r, &corev1.Namespace{}, false, r.namespaceChange)).
							WithOptions(queue.Options[reconcile.Request](withMinWorkers(s))).
							Complete(r)
}

// clusterRoleBindingIndexes are the indexes of ClusterRoleBindings, by field.
var clusterRoleBindingIndexes = map[string]func(*rbacv1.ClusterRoleBinding) []string{
	audienceField: func(binding *rbacv1.ClusterRoleBinding) []string {
		audience := clustersets.AudienceOf(binding.Subjects)
		if audience.Everyone { // No second index value, so that it is found once.
			return []string{everyNamespace}
		}
		return sets.List(audience.Namespaces)
	},
	roleField: func(binding *rbacv1.ClusterRoleBinding) []string {
		if role, refers := clustersets.RoleOf(binding); refers {
			return []string{role}
		}
		return nil
	},
}

func indexClusterRoleBindings(mgr manager.Manager) error {
	for field, values := range clusterRoleBindingIndexes {
		err := mgr.GetFieldIndexer().IndexField(context.Background(), &rbacv1.ClusterRoleBinding{}, field, func(object client.Object) []string {
			if binding, ok := object.(*rbacv1.ClusterRoleBinding); ok {
				return values(binding)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("indexing ClusterRoleBindings by %s: %w", field, err)
		}
	}

	return nil
}

// watch returns a source that enqueues the namespaces that a change concerns; before or after is nil when the object is created or deleted.
// Unless initial is set, objects of the initial list enqueue nothing.
func watch[T client.Object](
	mgr manager.Manager, r *rbacBindingReconciler, object T, initial bool, concerns func(ctx context.Context, before, after T) clustersets.Audience,
) source.Source {
	type limiter = workqueue.TypedRateLimitingInterface[reconcile.Request]
	var none T
	return source.Kind(mgr.GetCache(), object, handler.TypedFuncs[T, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[T], q limiter) {
			if initial || !e.IsInInitialList {
				r.enqueue(ctx, q, concerns(ctx, none, e.Object))
			}
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[T], q limiter) {
			r.enqueue(ctx, q, concerns(ctx, e.ObjectOld, e.ObjectNew))
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[T], q limiter) {
			r.enqueue(ctx, q, concerns(ctx, e.Object, none))
		},
	})
}

// enqueue adds the namespaces of an audience to the queue; for an audience of everyone, all namespaces with a ServiceAccount named
// scope.Account.
func (r *rbacBindingReconciler) enqueue(
	ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], audience clustersets.Audience,
) {
	for namespace := range audience.Namespaces {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: namespace}})
	}
	if !audience.Everyone {
		return
	}

	accounts := &corev1.ServiceAccountList{}
	if err := r.client.List(ctx, accounts, client.UnsafeDisableDeepCopy); err != nil {
		// A List from the cache fails only when the cache stops; the next start enqueues every ServiceAccount.
		klog.FromContext(ctx).Error(err, "Listing ServiceAccounts from the cache")
		return
	}

	for i := range accounts.Items {
		if account := &accounts.Items[i]; account.Name == clustersets.Account {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: account.Namespace}})
		}
	}
}

func namespaceAudience(namespace string) clustersets.Audience {
	return clustersets.Audience{Namespaces: sets.New(namespace)}
}

func (*rbacBindingReconciler) accountChange(_ context.Context, before, after *corev1.ServiceAccount) clustersets.Audience {
	one := after
	if one == nil {
		one = before
	}
	if one.Name != clustersets.Account || before != nil && after != nil && sameLifecycle(before, after) {
		return clustersets.Audience{}
	}
	return namespaceAudience(one.Namespace)
}

func (*rbacBindingReconciler) namespaceChange(_ context.Context, before, after *corev1.Namespace) clustersets.Audience {
	switch {
	case before == nil:
		return namespaceAudience(after.Name)
	case after == nil || !sameLifecycle(before, after):
		return namespaceAudience(before.Name)
	default:
		return clustersets.Audience{}
	}
}

// sameLifecycle reports whether two states have the same UID and are both being deleted, or both not.
func sameLifecycle(before, after metav1.Object) bool {
	return before.GetUID() == after.GetUID() && before.GetDeletionTimestamp().IsZero() == after.GetDeletionTimestamp().IsZero()
}

// setChange concerns everyone when a ManagedClusterSet is created or deleted.
func (*rbacBindingReconciler) setChange(_ context.Context, before, after *clusterv1beta2.ManagedClusterSet) clustersets.Audience {
	return clustersets.Audience{Everyone: (before == nil) != (after == nil)}
}

// bindingChange concerns the namespace if the binding is or was managed, or if a binding was deleted that may have blocked a name. Changes
// of the status enqueue nothing. The event of an own creation does enqueue, because the right may have been revoked before the event
// arrived.
func (r *rbacBindingReconciler) bindingChange(_ context.Context, before, after *clusterv1beta2.ManagedClusterSetBinding) clustersets.Audience {
	if after == nil {
		r.sent.Clear(client.ObjectKeyFromObject(before))
		return namespaceAudience(before.Namespace)
	}
	r.sent.Pending(client.ObjectKeyFromObject(after), after.ResourceVersion) // It drops a write that is shown.

	switch {
	case !clustersets.Managed(after) && (before == nil || !clustersets.Managed(before)):
		return clustersets.Audience{}
	case before != nil && sameLifecycle(before, after) && before.Spec == after.Spec && clustersets.Managed(before) == clustersets.Managed(after):
		return clustersets.Audience{}
	default:
		return namespaceAudience(after.Namespace)
	}
}

// clusterRoleBindingChange concerns the subjects that were added or removed, or all subjects if roleRef differs: the binding was deleted
// and created again.
func (*rbacBindingReconciler) clusterRoleBindingChange(_ context.Context, before, after *rbacv1.ClusterRoleBinding) clustersets.Audience {
	switch {
	case before == nil:
		return clustersets.AudienceOf(after.Subjects)
	case after == nil:
		return clustersets.AudienceOf(before.Subjects)
	case before.RoleRef != after.RoleRef:
		return clustersets.AudienceOf(before.Subjects).Union(clustersets.AudienceOf(after.Subjects))
	default:
		return clustersets.AudienceOf(before.Subjects).Difference(clustersets.AudienceOf(after.Subjects))
	}
}

// clusterRoleChange concerns the subjects that are bound to the ClusterRole, if what it grants has changed.
func (r *rbacBindingReconciler) clusterRoleChange(ctx context.Context, before, after *rbacv1.ClusterRole) clustersets.Audience {
	var (
		role     string
		was, now clustersets.Grant
		subjects []rbacv1.Subject
	)
	if before != nil {
		role, was = before.Name, clustersets.OfRules(before.Rules)
	}

	if after != nil {
		role, now = after.Name, clustersets.OfRules(after.Rules)
	} else {
		r.grants.forget(role)
	}
	if was.Equal(now) {
		return clustersets.Audience{}
	}

	list := &rbacv1.ClusterRoleBindingList{}
	if err := r.client.List(ctx, list, client.MatchingFields{roleField: role}, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Listing the ClusterRoleBindings of a role from the cache", "clusterRole", role)
		return clustersets.Audience{Everyone: true}
	}
	for i := range list.Items {
		subjects = append(subjects, list.Items[i].Subjects...)
	}
	return clustersets.AudienceOf(subjects)
}

// minWorkers is the least number of namespaces that are reconciled concurrently; most of the time is spent waiting for the API server.
const minWorkers = 8

func withMinWorkers(s queue.Settings) queue.Settings {
	s.Workers = max(s.Workers, minWorkers)
	return s
}
