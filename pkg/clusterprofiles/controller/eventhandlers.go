// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	utilsets "k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// eventHandlers find the ClusterProfiles that events concern. In doubt they enqueue too many.
type eventHandlers struct {
	cache    client.Reader
	sets     *sets
	patterns clusterprofiles.Patterns
	bound    *bound
}

// clusters enqueues the ClusterProfiles of a ManagedCluster that says something else, in the namespaces that have it before or after the change.
func (h *eventHandlers) clusters() handler.EventHandler {
	return objects.Handler(func(ctx context.Context, before, after *clusterv1.ManagedCluster, _ bool) []reconcile.Request {
		if before == nil {
			return h.ofCluster(ctx, after)
		}
		moved := !equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
		if !moved {
			was, _ := h.patterns.Profile(before)
			is, _ := h.patterns.Profile(after)
			if equality.Semantic.DeepEqual(was, is) {
				return nil
			}
		}
		return h.ofCluster(ctx, before, after)
	}, func(ctx context.Context, last *clusterv1.ManagedCluster) []reconcile.Request {
		return h.ofCluster(ctx, last)
	})
}

// ofCluster returns the ClusterProfiles of the states of a ManagedCluster. Those of namespaces that a set with a mistake concerns are among them.
func (h *eventHandlers) ofCluster(ctx context.Context, states ...*clusterv1.ManagedCluster) []reconcile.Request {
	sets := slices.DeleteFunc(h.bound.sets(), func(set string) bool {
		return !slices.ContainsFunc(states, func(cluster *clusterv1.ManagedCluster) bool {
			membership, err := h.sets.membership(ctx, set, cluster)
			return err != nil || membership != clusterprofiles.NotMember
		})
	})
	namespaces := h.bound.namespaces(sets...)
	requests := make([]reconcile.Request, 0, namespaces.Len())
	for namespace := range namespaces {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: states[0].Name}})
	}
	return requests
}

// boundSets enqueues the ClusterProfiles of the namespaces that have bound a set whose spec has changed.
func (h *eventHandlers) boundSets() handler.EventHandler {
	of := func(ctx context.Context, set *clusterv1beta2.ManagedClusterSet) []reconcile.Request {
		return h.ofSet(ctx, set.Name, h.bound.namespaces(set.Name).UnsortedList()...)
	}
	return objects.Handler(func(ctx context.Context, before, after *clusterv1beta2.ManagedClusterSet, _ bool) []reconcile.Request {
		if before != nil && before.UID == after.UID && before.Generation == after.Generation {
			return nil
		}
		return of(ctx, after)
	}, of)
}

// bindings enqueues the ClusterProfiles of the namespace of a binding that has come, has gone, or has another label.
func (h *eventHandlers) bindings() handler.EventHandler {
	return objects.Handler(func(ctx context.Context, before, after *clusterv1beta2.ManagedClusterSetBinding, _ bool) []reconcile.Request {
		h.bound.set(after)
		if before != nil && before.Labels[clusterprofiles.OptOutLabel] == after.Labels[clusterprofiles.OptOutLabel] &&
			before.Spec.ClusterSet == after.Spec.ClusterSet {
			return nil
		}
		if !clusterprofiles.Counts(after) {
			return requestsFor(h.existing(ctx, after.Namespace))
		}
		return h.ofSet(ctx, after.Spec.ClusterSet, after.Namespace)
	}, func(ctx context.Context, last *clusterv1beta2.ManagedClusterSetBinding) []reconcile.Request {
		h.bound.delete(last)
		return requestsFor(h.existing(ctx, last.Namespace))
	})
}

// ofSet returns the ClusterProfiles that some namespaces have, and those of the clusters of a set that they may get.
func (h *eventHandlers) ofSet(ctx context.Context, set string, namespaces ...string) []reconcile.Request {
	if len(namespaces) == 0 {
		return nil
	}
	clusters := &clusterv1.ManagedClusterList{}
	if err := h.cache.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot list ManagedClusters", "set", set)
	}
	found := h.existing(ctx, namespaces...)
	for i := range clusters.Items {
		membership, err := h.sets.membership(ctx, set, &clusters.Items[i])
		if err == nil && membership != clusterprofiles.Member { // A set with a mistake makes no ClusterProfile.
			continue
		}
		for _, namespace := range namespaces {
			found.Insert(types.NamespacedName{Namespace: namespace, Name: clusters.Items[i].Name})
		}
	}
	return requestsFor(found)
}

// existing returns the ClusterProfiles that namespaces have.
func (h *eventHandlers) existing(ctx context.Context, namespaces ...string) utilsets.Set[types.NamespacedName] {
	found := utilsets.Set[types.NamespacedName]{}
	for _, namespace := range namespaces {
		profiles := &clusterinventory.ClusterProfileList{}
		if err := h.cache.List(ctx, profiles, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			klog.FromContext(ctx).Error(err, "Cannot list ClusterProfiles", "namespace", namespace)
		}
		for i := range profiles.Items {
			found.Insert(client.ObjectKeyFromObject(&profiles.Items[i]))
		}
	}
	return found
}

func requestsFor(keys utilsets.Set[types.NamespacedName]) []reconcile.Request {
	requests := make([]reconcile.Request, 0, keys.Len())
	for key := range keys {
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}
