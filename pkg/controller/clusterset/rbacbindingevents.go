package clusterset

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

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/scope"
)

const (
	// audienceField indexes ClusterRoleBindings by the namespaces that they concern.
	audienceField = "audience"
	// everyNamespace is the audience of those that concern every namespace; no namespace has this name.
	everyNamespace = "*"
	// roleField indexes ClusterRoleBindings by the ClusterRole that they refer to.
	roleField = "roleRef.name"
)

// SetupClusterSetBindingRBAC adds the controller ClusterSetBindingRBAC to the manager. Of the ServiceAccounts its cache need hold only those
// named scope.Account.
func SetupClusterSetBindingRBAC(mgr manager.Manager, s queue.Settings) error {
	r := newRBACBindingReconciler(mgr.GetClient(), mgr.GetAPIReader(), s.Clock)

	if err := indexClusterRoleBindings(mgr); err != nil {
		return err
	}

	// At the start the accounts and the bindings that there are name every namespace in which there can be something to do.
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

// clusterRoleBindingIndexes are the fields by which ClusterRoleBindings are found.
var clusterRoleBindingIndexes = map[string]func(*rbacv1.ClusterRoleBinding) []string{
	audienceField: func(binding *rbacv1.ClusterRoleBinding) []string {
		audience := scope.AudienceOf(binding.Subjects)
		if audience.Everyone { // It is found by that alone, so that nothing finds it twice.
			return []string{everyNamespace}
		}

		return sets.List(audience.Namespaces)
	},
	roleField: func(binding *rbacv1.ClusterRoleBinding) []string {
		if role, refers := scope.RoleOf(binding); refers {
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

// watch queues the namespaces that a change can concern; before or after is nil when the object comes or goes. Without initial, those
// objects are passed over that are there at the start.
func watch[T client.Object](
	mgr manager.Manager, r *rbacBindingReconciler, object T, initial bool, concerns func(ctx context.Context, before, after T) scope.Audience,
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

// enqueue adds the namespaces of an audience; of every namespace, those that have an account.
func (r *rbacBindingReconciler) enqueue(
	ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], audience scope.Audience,
) {
	for namespace := range audience.Namespaces {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: namespace}})
	}

	if !audience.Everyone {
		return
	}

	accounts := &corev1.ServiceAccountList{}
	if err := r.client.List(ctx, accounts, client.UnsafeDisableDeepCopy); err != nil {
		// The cache answers; it fails only when it stops, and then every account is looked at again at the next start.
		klog.FromContext(ctx).Error(err, "Listing ServiceAccounts from the cache")

		return
	}

	for i := range accounts.Items {
		if account := &accounts.Items[i]; account.Name == scope.Account {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: account.Namespace}})
		}
	}
}

func namespaceAudience(namespace string) scope.Audience {
	return scope.Audience{Namespaces: sets.New(namespace)}
}

func (*rbacBindingReconciler) accountChange(_ context.Context, before, after *corev1.ServiceAccount) scope.Audience {
	one := after
	if one == nil {
		one = before
	}

	if one.Name != scope.Account || before != nil && after != nil && sameLifecycle(before, after) {
		return scope.Audience{}
	}

	return namespaceAudience(one.Namespace)
}

func (*rbacBindingReconciler) namespaceChange(_ context.Context, before, after *corev1.Namespace) scope.Audience {
	switch {
	case before == nil:
		return namespaceAudience(after.Name)
	case after == nil || !sameLifecycle(before, after):
		return namespaceAudience(before.Name)
	default:
		return scope.Audience{}
	}
}

// sameLifecycle reports whether two states are of one object that is being deleted in both of them or in neither.
func sameLifecycle(before, after metav1.Object) bool {
	return before.GetUID() == after.GetUID() && before.GetDeletionTimestamp().IsZero() == after.GetDeletionTimestamp().IsZero()
}

// setChange concerns everyone when a set comes or goes.
func (*rbacBindingReconciler) setChange(_ context.Context, before, after *clusterv1beta2.ManagedClusterSet) scope.Audience {
	return scope.Audience{Everyone: (before == nil) != (after == nil)}
}

// bindingChange concerns the namespace when the binding was ours or is, and when one is gone that may have stood in our way. A
// condition is no change; what we created is one as it comes back, because it may have been revoked before it was seen.
func (r *rbacBindingReconciler) bindingChange(_ context.Context, before, after *clusterv1beta2.ManagedClusterSetBinding) scope.Audience {
	if after == nil {
		r.sent.observe(client.ObjectKeyFromObject(before), before.ResourceVersion, true)

		return namespaceAudience(before.Namespace)
	}

	r.sent.observe(client.ObjectKeyFromObject(after), after.ResourceVersion, false)

	switch {
	case !scope.Managed(after) && (before == nil || !scope.Managed(before)):
		return scope.Audience{}
	case before != nil && sameLifecycle(before, after) && before.Spec == after.Spec && scope.Managed(before) == scope.Managed(after):
		return scope.Audience{}
	default:
		return namespaceAudience(after.Namespace)
	}
}

// clusterRoleBindingChange concerns the accounts that come or go as subjects, or all of them when it refers to another role: it can have
// been made again under its name.
func (*rbacBindingReconciler) clusterRoleBindingChange(_ context.Context, before, after *rbacv1.ClusterRoleBinding) scope.Audience {
	switch {
	case before == nil:
		return scope.AudienceOf(after.Subjects)
	case after == nil:
		return scope.AudienceOf(before.Subjects)
	case before.RoleRef != after.RoleRef:
		return scope.AudienceOf(before.Subjects).Union(scope.AudienceOf(after.Subjects))
	default:
		return scope.AudienceOf(before.Subjects).Difference(scope.AudienceOf(after.Subjects))
	}
}

// clusterRoleChange concerns the accounts that are bound to the role, when it grants something else than before.
func (r *rbacBindingReconciler) clusterRoleChange(ctx context.Context, before, after *rbacv1.ClusterRole) scope.Audience {
	var (
		role     string
		was, now scope.Grant
		subjects []rbacv1.Subject
	)

	if before != nil {
		role, was = before.Name, scope.OfRules(before.Rules)
	}

	if after != nil {
		role, now = after.Name, scope.OfRules(after.Rules)
	} else {
		r.grants.forget(role)
	}

	if was.Equal(now) {
		return scope.Audience{}
	}

	list := &rbacv1.ClusterRoleBindingList{}
	if err := r.client.List(ctx, list, client.MatchingFields{roleField: role}, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Listing the ClusterRoleBindings of a role from the cache", "clusterRole", role)

		return scope.Audience{Everyone: true}
	}

	for i := range list.Items {
		subjects = append(subjects, list.Items[i].Subjects...)
	}

	return scope.AudienceOf(subjects)
}

// minWorkers is how many namespaces are worked on at the same time, at least: what takes time is to wait for the API server.
const minWorkers = 8

func withMinWorkers(s queue.Settings) queue.Settings {
	s.Workers = max(s.Workers, minWorkers)

	return s
}
