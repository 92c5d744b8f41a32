// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// The kinds of API objects that decide about placements on every hub.
var (
	Clusters = newKind(resourceOf(clusterv1.GroupVersion, "managedclusters"),
		func() *clusterv1.ManagedCluster { return &clusterv1.ManagedCluster{} },
		(*Inventory).SetCluster,
		func(i *Inventory, last *clusterv1.ManagedCluster) Affected { return i.DeleteCluster(last.Name) },
		"Placements that have the cluster keep it, and others do not select it.")

	ClusterSets = newKind(resourceOf(clusterv1beta2.GroupVersion, "managedclustersets"),
		func() *clusterv1beta2.ManagedClusterSet { return &clusterv1beta2.ManagedClusterSet{} },
		(*Inventory).SetClusterSet,
		func(i *Inventory, last *clusterv1beta2.ManagedClusterSet) Affected {
			return i.DeleteClusterSet(last.Name)
		},
		"If they are in its spec, the decisions of placements that use the set stay as they are.")

	Bindings = newKind(resourceOf(clusterv1beta2.GroupVersion, "managedclustersetbindings"),
		func() *clusterv1beta2.ManagedClusterSetBinding { return &clusterv1beta2.ManagedClusterSetBinding{} },
		(*Inventory).SetBinding,
		func(i *Inventory, last *clusterv1beta2.ManagedClusterSetBinding) Affected {
			return i.DeleteBinding(last.Namespace, last.Name)
		},
		"The hub does without them.")

	Scores = newKind(resourceOf(clusterv1alpha1.GroupVersion, "addonplacementscores"),
		func() *clusterv1alpha1.AddOnPlacementScore { return &clusterv1alpha1.AddOnPlacementScore{} },
		(*Inventory).SetScores,
		func(i *Inventory, last *clusterv1alpha1.AddOnPlacementScore) Affected {
			return i.DeleteScores(last.Namespace, last.Name)
		},
		"The scores count as absent, and placements that have the cluster keep it.")
)

// Kinds returns Clusters, ClusterSets, Bindings and Scores. Every watcher of a hub watches them, and every object of them is compared with
// the API server before a new leader removes clusters.
func Kinds() []*ObjectKind { return []*ObjectKind{Clusters, ClusterSets, Bindings, Scores} }

// Object is an API object.
type Object interface {
	metav1.Object
	runtime.Object
}

// ObjectKind is a kind of API objects in an Inventory.
type ObjectKind struct {
	// Resource is the resource of the API server.
	Resource schema.GroupVersionResource
	// New returns an empty object.
	New func() Object
	// Set adds or updates an object of the kind, and Delete removes it, given its last known state. They ignore objects of other kinds.
	Set, Delete func(*Inventory, Object) Affected
	// Unreadable is a sentence about what the hub does without fields of an object that cannot be decoded.
	Unreadable string
}

func newKind[T Object](
	resource schema.GroupVersionResource, empty func() T, set, remove func(*Inventory, T) Affected, unreadable string,
) *ObjectKind {
	typed := func(change func(*Inventory, T) Affected) func(*Inventory, Object) Affected {
		return func(i *Inventory, object Object) Affected {
			of, ok := object.(T)
			if !ok {
				return Affected{}
			}
			return change(i, of)
		}
	}
	return &ObjectKind{
		Resource: resource, New: func() Object { return empty() }, Set: typed(set), Delete: typed(remove), Unreadable: unreadable,
	}
}

func resourceOf(version metav1.GroupVersion, plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: version.Group, Version: version.Version, Resource: plural}
}
