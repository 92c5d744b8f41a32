// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"maps"
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
	// refusedIndex finds the AccessRequests that a review has refused: they have the value refused.
	refusedIndex = "access.refused"
	refused      = "true"
)

// recentRights has the namespaces in which a role or a binding has changed within rightsDelay; the empty one means all namespaces. An
// AccessRequest that is refused at that time is reviewed again: the change may have come after the review and before the refusal is in the
// cache, or the API server may not have known it yet. It is safe for concurrent use.
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

// concern reports whether a change may concern the Clusters of a namespace.
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

// refusedKeys returns the values of refusedIndex.
func refusedKeys(access *openmcpv1alpha1.AccessRequest) []string {
	if access.Status.Status == openmcpv1alpha1.RequestDenied && access.Status.Reason == openmcpv1alpha1.ReasonAccessNotAllowed {
		return []string{refused}
	}
	return nil
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

// rightsChanges enqueues the AccessRequests that a review has refused when a role or a binding is created or changed. Nothing follows from a
// deletion, because RBAC only grants, and nothing from the initial list, after which every AccessRequest is reconciled anyway. A Role or a
// RoleBinding grants access to Clusters of its namespace alone, so that a tenant who writes many of them causes no review for others. The
// AccessRequests are only read, so they are not copied.
func rightsChanges(cached client.Reader, recent *recentRights) handler.EventHandler {
	enqueue := func(ctx context.Context, changed client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		recent.note(changed.GetNamespace())
		list := &openmcpv1alpha1.AccessRequestList{}
		if err := cached.List(ctx, list, client.MatchingFields{refusedIndex: refused}, client.UnsafeDisableDeepCopy); err != nil {
			klog.FromContext(ctx).Error(err, "AccessRequests could not be listed") // The cache is stopping.
			return
		}

		for i := range list.Items {
			access := &list.Items[i]
			if namespace := changed.GetNamespace(); namespace == "" || mayBeIn(ctx, cached, access, namespace) {
				q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(access)}, rightsDelay)
			}
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
	}
}

// mayBeIn reports whether the Cluster of an AccessRequest is in a namespace. It returns true if what the AccessRequest refers to cannot be read.
func mayBeIn(ctx context.Context, cached client.Reader, access *openmcpv1alpha1.AccessRequest, namespace string) bool {
	to, err := referents(ctx, cached, access)
	if err != nil {
		return true
	}
	key, found := clusterrequest.AccessCluster(access, to)
	return found && key.Namespace == namespace
}
