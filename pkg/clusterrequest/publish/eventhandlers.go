// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// eventHandlers find the Clusters that events concern.
type eventHandlers struct {
	cache      cache.Cache
	heartbeats *heartbeats
	clock      clock.PassiveClock
}

// sources returns the sources of the events of the objects in the cache of this controller.
func (h *eventHandlers) sources(own cache.Cache) []source.Source {
	kinds := companions()
	sources := make([]source.Source, 0, 1+len(kinds))
	sources = append(sources, source.Kind(own, client.Object(&coordinationv1.Lease{}), h.leases()))
	for _, object := range kinds {
		sources = append(sources, source.Kind(own, client.Object(object), handler.EnqueueRequestsFromMapFunc(publishedCluster)))
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
	changed := func(ctx context.Context, old, current *openmcpv1alpha1.ClusterProvider) []reconcile.Request {
		before, after := profilesOf(old), profilesOf(current)
		moved := leaseNamespaceOf(old) != leaseNamespaceOf(current)
		return h.clusters(ctx, func(cluster *openmcpv1alpha1.Cluster) bool {
			profile := cluster.Spec.ClusterProviderRef.Profile
			return cluster.Spec.ClusterProviderRef.Name == current.Name && (moved || !equality.Semantic.DeepEqual(before[profile], after[profile]))
		})
	}
	return objects.Handler(func(ctx context.Context, before, after *openmcpv1alpha1.ClusterProvider, _ bool) []reconcile.Request {
		if before == nil || leaseNamespaceOf(before) != leaseNamespaceOf(after) {
			warnOfLeases(ctx, after)
		}
		return changed(ctx, before, after)
	}, func(ctx context.Context, last *openmcpv1alpha1.ClusterProvider) []reconcile.Request {
		return changed(ctx, last, &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: last.Name}})
	})
}

// leaseNamespaceOf returns spec.leaseNamespace of a ClusterProvider; empty for nil.
func leaseNamespaceOf(provider *openmcpv1alpha1.ClusterProvider) string {
	if provider == nil {
		return ""
	}
	return provider.Spec.LeaseNamespace
}

// warnOfLeases logs that the Leases of a ClusterProvider are where tenants may write.
func warnOfLeases(ctx context.Context, provider *openmcpv1alpha1.ClusterProvider) {
	if leaseNamespaceOf(provider) == "" {
		klog.FromContext(ctx).Info("The Leases of the provider count in the namespaces of its Clusters, where tenants may delete them: set "+
			"spec.leaseNamespace of the ClusterProvider to a namespace of the provider", "clusterProvider", provider.Name)
	}
}

// profilesOf returns the traits of the profiles of a ClusterProvider; none for nil.
func profilesOf(provider *openmcpv1alpha1.ClusterProvider) map[openmcpv1alpha1.ProfileName][]openmcpv1alpha1.SupportedTrait {
	traits := map[openmcpv1alpha1.ProfileName][]openmcpv1alpha1.SupportedTrait{}
	if provider != nil {
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
	return objects.Handler(func(_ context.Context, _, lease *coordinationv1.Lease, initial bool) []reconcile.Request {
		if !clusterrequest.IsHeartbeat(lease.Name) {
			return nil
		}
		if request, affected := h.heartbeats.set(lease, initial, h.clock.Now()); affected {
			return []reconcile.Request{request}
		}
		return nil
	}, func(_ context.Context, last *coordinationv1.Lease) []reconcile.Request {
		if request, affected := h.heartbeats.remove(client.ObjectKeyFromObject(last)); affected {
			return []reconcile.Request{request}
		}
		return nil
	})
}
