package publish

import (
	"context"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// rateLimited is the queue of the controller.
type rateLimited = workqueue.TypedRateLimitingInterface[reconcile.Request]

// eventHandlers find the Clusters that events concern.
type eventHandlers struct {
	cache      cache.Cache
	heartbeats *heartbeats
	clock      clock.PassiveClock
}

// sources returns the sources of the events of the objects in the cache of this controller.
func (h *eventHandlers) sources(objects cache.Cache) []source.Source {
	kinds := companions()
	sources := make([]source.Source, 0, 1+len(kinds))
	sources = append(sources, source.Kind(objects, client.Object(&coordinationv1.Lease{}), h.leases()))

	for _, object := range kinds {
		sources = append(sources, source.Kind(objects, client.Object(object), handler.EnqueueRequestsFromMapFunc(publishedCluster)))
	}

	return sources
}

// publishedCluster returns the Cluster that an object was made for.
func publishedCluster(_ context.Context, object client.Object) []reconcile.Request {
	namespace, name, found := strings.Cut(object.GetAnnotations()[openmcpv1alpha1.ClusterAnnotation], "/")
	if !found {
		return nil
	}

	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

// managedClusters enqueues the Cluster of a ManagedCluster, and the Clusters whose ManagedCluster would have its name.
func (h *eventHandlers) managedClusters() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		return append(publishedCluster(ctx, object), h.clusters(ctx, func(cluster *openmcpv1alpha1.Cluster) bool {
			return !clusterrequest.IsPublished(object, client.ObjectKeyFromObject(cluster))
		}, client.MatchingFields{managedClusterName: object.GetName()})...)
	})
}

// providers enqueues the Clusters of the profiles that have changed, and all Clusters of a provider whose Leases are elsewhere now.
func (h *eventHandlers) providers() handler.EventHandler {
	enqueue := func(ctx context.Context, old, current client.Object, q rateLimited) {
		before, after := profilesOf(old), profilesOf(current)
		moved := leaseNamespaceOf(old) != leaseNamespaceOf(current)

		for _, request := range h.clusters(ctx, func(cluster *openmcpv1alpha1.Cluster) bool {
			profile := cluster.Spec.ClusterProviderRef.Profile

			return cluster.Spec.ClusterProviderRef.Name == current.GetName() &&
				(moved || !equality.Semantic.DeepEqual(before[profile], after[profile]))
		}) {
			q.Add(request)
		}
	}

	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q rateLimited) {
			warnOfLeases(ctx, e.Object)
			enqueue(ctx, nil, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q rateLimited) {
			if leaseNamespaceOf(e.ObjectOld) != leaseNamespaceOf(e.ObjectNew) {
				warnOfLeases(ctx, e.ObjectNew)
			}

			enqueue(ctx, e.ObjectOld, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q rateLimited) {
			enqueue(ctx, e.Object, &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: e.Object.GetName()}}, q)
		},
	}
}

// leaseNamespaceOf returns spec.leaseNamespace of a ClusterProvider; empty for nil.
func leaseNamespaceOf(object client.Object) string {
	if provider, is := object.(*openmcpv1alpha1.ClusterProvider); is {
		return provider.Spec.LeaseNamespace
	}

	return ""
}

// warnOfLeases logs that the Leases of a ClusterProvider are where tenants may write.
func warnOfLeases(ctx context.Context, provider client.Object) {
	if leaseNamespaceOf(provider) == "" {
		klog.FromContext(ctx).Info("The Leases of the provider count in the namespaces of its Clusters, where tenants may delete them: set "+
			"spec.leaseNamespace of the ClusterProvider to a namespace of the provider", "clusterProvider", provider.GetName())
	}
}

// profilesOf returns the traits of the profiles of a ClusterProvider; none for nil.
func profilesOf(object client.Object) map[openmcpv1alpha1.ProfileName][]openmcpv1alpha1.SupportedTrait {
	traits := map[openmcpv1alpha1.ProfileName][]openmcpv1alpha1.SupportedTrait{}

	if provider, is := object.(*openmcpv1alpha1.ClusterProvider); is {
		for i := range provider.Status.Profiles {
			traits[provider.Status.Profiles[i].Name] = provider.Status.Profiles[i].SupportedTraits
		}
	}

	return traits
}

// clusters returns the Clusters of a list that satisfy a condition.
func (h *eventHandlers) clusters(
	ctx context.Context, satisfies func(*openmcpv1alpha1.Cluster) bool, options ...client.ListOption,
) []reconcile.Request {
	list := &openmcpv1alpha1.ClusterList{}
	if err := h.cache.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		klog.FromContext(ctx).Error(err, "Clusters could not be listed") // The cache is stopping.

		return nil
	}

	var requests []reconcile.Request

	for i := range list.Items {
		if satisfies(&list.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}

	return requests
}

// leases takes the Leases of Clusters and of agents, and enqueues the Cluster whose availability they change.
func (h *eventHandlers) leases() handler.EventHandler {
	set := func(object client.Object, initial bool, q rateLimited) {
		lease, is := object.(*coordinationv1.Lease)
		if !is || !clusterrequest.IsHeartbeat(lease.Name) {
			return
		}

		if request, affected := h.heartbeats.set(lease, initial, h.clock.Now()); affected {
			q.Add(request)
		}
	}

	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q rateLimited) { set(e.Object, e.IsInInitialList, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q rateLimited) { set(e.ObjectNew, false, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q rateLimited) {
			if request, affected := h.heartbeats.remove(client.ObjectKeyFromObject(e.Object)); affected {
				q.Add(request)
			}
		},
	}
}
