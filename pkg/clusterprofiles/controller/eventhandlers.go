// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
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
	bindings, err := listBindings(ctx, h.cache)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot find the ClusterProfiles of a ManagedCluster", "cluster", states[0].Name)
		return nil
	}
	found := map[string]bool{}
	for _, cluster := range states {
		scope, err := h.sets.scope(ctx, cluster, bindings)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot find all ClusterProfiles of a ManagedCluster", "cluster", cluster.Name)
		}
		for namespace := range scope {
			found[namespace] = true
		}
	}
	requests := make([]reconcile.Request, 0, len(found))
	for namespace := range found {
		requests = append(requests, requestFor(namespace, states[0].Name))
	}
	return requests
}

// boundSets enqueues the ClusterProfiles of the namespaces that have bound a set whose spec has changed.
func (h *eventHandlers) boundSets() handler.EventHandler {
	of := func(ctx context.Context, set *clusterv1beta2.ManagedClusterSet) []reconcile.Request {
		bindings, err := listBindings(ctx, h.cache)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot find the ClusterProfiles of a ManagedClusterSet", "set", set.Name)
			return nil
		}
		var requests []reconcile.Request
		for _, binding := range bindings {
			if binding.Spec.ClusterSet == set.Name {
				requests = append(requests, h.ofNamespace(ctx, binding.Namespace)...)
			}
		}
		return requests
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
		if before != nil && before.Labels[clusterprofiles.OptOutLabel] == after.Labels[clusterprofiles.OptOutLabel] &&
			before.Spec.ClusterSet == after.Spec.ClusterSet {
			return nil
		}
		return h.ofNamespace(ctx, after.Namespace)
	}, func(ctx context.Context, last *clusterv1beta2.ManagedClusterSetBinding) []reconcile.Request {
		return h.ofNamespace(ctx, last.Namespace)
	})
}

// ofNamespace returns the ClusterProfiles that a namespace has or may have.
func (h *eventHandlers) ofNamespace(ctx context.Context, namespace string) []reconcile.Request {
	clusters, profiles := &clusterv1.ManagedClusterList{}, &clusterinventory.ClusterProfileList{}
	found := map[string]bool{}
	if err := h.cache.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot list ManagedClusters", "namespace", namespace)
	}
	if err := h.cache.List(ctx, profiles, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot list ClusterProfiles", "namespace", namespace)
	}
	for i := range clusters.Items {
		found[clusters.Items[i].Name] = true
	}
	for i := range profiles.Items {
		found[profiles.Items[i].Name] = true
	}
	requests := make([]reconcile.Request, 0, len(found))
	for name := range found {
		requests = append(requests, requestFor(namespace, name))
	}
	return requests
}

func requestFor(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}
