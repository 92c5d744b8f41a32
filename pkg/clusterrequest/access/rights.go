// SPDX-License-Identifier: Apache-2.0

package access

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

const (
	// rightsDelay is the time between a change of a role or a binding and the reviews that may turn out otherwise by it. The API server learns of
	// the change by a watch of its own, and several changes within that time cost an AccessRequest one review.
	rightsDelay = 2 * time.Second
	// rightsIndex finds the AccessRequests that have an access, by the namespaces in which a role may give a right for it; everyNamespace finds
	// all of them, and is no name of a namespace.
	rightsIndex    = "access.rights"
	everyNamespace = "*"
)

// recentRights has the namespaces in which a role or a binding has changed within rightsDelay; the empty one means all namespaces. An
// AccessRequest that is refused at that time is reviewed once more before the refusal is written: the API server may not have known the change
// yet. It is safe for concurrent use.
type recentRights struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	changed map[string]time.Time // by namespace
}

func newRecentRights(c clock.PassiveClock) *recentRights {
	return &recentRights{clock: c, changed: map[string]time.Time{}}
}

// note takes note of a change in a namespace, and forgets those that are older.
func (r *recentRights) note(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	maps.DeleteFunc(r.changed, func(_ string, at time.Time) bool { return now.Sub(at) >= rightsDelay })
	r.changed[namespace] = now
}

// concern reports whether a change may concern the rights in a namespace.
func (r *recentRights) concern(namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range []string{"", namespace} {
		if at, found := r.changed[of]; found && r.clock.Since(at) < rightsDelay {
			return true
		}
	}
	return false
}

// rightsKeys returns the values of rightsIndex.
func rightsKeys(access *openmcpv1alpha1.AccessRequest) []string {
	if access.Status.ClusterRef == nil || access.DeletionTimestamp != nil {
		return nil
	}
	reference, _ := clusterrequest.AccessReference(access)
	keys := []string{everyNamespace, access.Namespace, reference.Namespace, access.Status.ClusterRef.Namespace}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// rightsSources returns sources of the changes of roles and bindings, of which a cache has the names alone.
func rightsSources(mgr manager.Manager, changes handler.EventHandler) ([]source.Source, error) {
	names, err := objects.MetadataCache(mgr, "roles and bindings", nil, cache.Options{})
	if err != nil {
		return nil, err
	}
	var sources []source.Source
	for _, kind := range []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"} {
		sources = append(sources, source.Kind[client.Object](names, objects.Metadata(rbacv1.SchemeGroupVersion.WithKind(kind)), changes))
	}
	return sources, nil
}

// rightsChanges enqueues the AccessRequests that have an access when a role or a binding is created, changed or deleted. Nothing follows from
// the initial list, after which every AccessRequest is reconciled anyway. A Role or a RoleBinding gives rights in its namespace alone, so that a
// tenant who writes many of them causes no review for others. The AccessRequests are only read, so they are not copied.
func rightsChanges(cached client.Reader, recent *recentRights, due *reviews) handler.EventHandler {
	enqueue := func(ctx context.Context, changed client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		recent.note(changed.GetNamespace())
		namespace := cmp.Or(changed.GetNamespace(), everyNamespace)
		list := &openmcpv1alpha1.AccessRequestList{}
		if err := cached.List(ctx, list, client.MatchingFields{rightsIndex: namespace}, client.UnsafeDisableDeepCopy); err != nil {
			klog.FromContext(ctx).Error(err, "AccessRequests could not be listed") // The cache is stopping.
			return
		}

		for i := range list.Items {
			access := &list.Items[i]
			q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(access)}, due.hasten(access))
		}
	}

	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if !e.IsInInitialList {
				enqueue(ctx, e.Object, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() {
				enqueue(ctx, e.ObjectNew, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, q)
		},
	}
}
