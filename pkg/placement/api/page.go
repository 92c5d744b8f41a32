// SPDX-License-Identifier: Apache-2.0

package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Object is an API object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Page is a PlacementDecision of any API.
type Page struct {
	metav1.ObjectMeta

	// Scheduler is the name of the scheduler that wrote the page, in APIs that have one.
	Scheduler string
	// Decisions are the selected clusters of the page. Nil means that the object has no list at all, which differs from an empty list.
	Decisions []Decision
}

// MetadataOnly returns a page with the metadata that determine its owner, and without decisions.
func MetadataOnly(object metav1.Object) *Page {
	return &Page{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Labels: object.GetLabels(), OwnerReferences: object.GetOwnerReferences(),
	}}
}

// Clusters returns the names of the clusters of the page, in its order.
func (p *Page) Clusters() []string {
	names := make([]string, 0, len(p.Decisions))
	for _, decision := range p.Decisions {
		names = append(names, decision.Cluster)
	}
	return names
}

// InventoryPage returns the page as the inventory counts it.
func InventoryPage(adapter Adapter, page *Page) inventory.Page {
	return inventory.Page{
		Key:      adapter.Codec().Key(page.Namespace, page.Name),
		Owner:    inventory.NewPlacementKey(adapter.Name(), page.Namespace, adapter.Codec().Placement(page)),
		Clusters: page.Clusters(),
	}
}

// Decision is a selected cluster. Each Codec stores only some of the fields.
type Decision struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string
	// Reason and Score are stored by v1beta1.
	Reason string
	Score  int64
	// Available is stored by v1alpha1.
	Available bool
	// Profile is the ClusterProfile of the cluster, stored by multicluster.x-k8s.io.
	Profile clusterinfo.Profile
}

// Group identifies a decision group.
type Group struct {
	// Index counts from 0.
	Index int
	// Name is the name of the group rule; empty for clusters that match no rule.
	Name string
}

// Codec is the format of the PlacementDecisions of an API.
type Codec interface { //nolint:interfacebloat // The differences between the decisions of two APIs are all here.
	// Key returns the key of a page in the inventory.
	Key(namespace, name string) inventory.DecisionKey
	// Owner returns the kind of the Placements that own the pages.
	Owner() schema.GroupVersionKind
	// Scheduler returns the scheduler name of the pages; empty in APIs without it.
	Scheduler() string
	// Foreign reports whether a page with the names or labels of the format belongs to another system. The hub never writes it.
	Foreign(page *Page) bool
	// Placement returns the name of the Placement in the labels of a page; empty without one.
	Placement(page *Page) string
	// Labels returns a new map with the labels of a page of a Placement.
	Labels(placement string, group Group) map[string]string
	// Group returns the group in the labels of a page; false without one.
	Group(page *Page) (Group, bool)

	// Empty and EmptyList return new objects to decode into.
	Empty() Object
	EmptyList() runtime.Object
	// Read returns the Page of an object of the API; nil for another type.
	Read(object runtime.Object) *Page
	// Write returns a new object of the API.
	Write(page *Page) Object
	// Compact shrinks an object of the API in place and keeps its content: intern replaces strings by shared copies. It returns false for
	// another type.
	Compact(object any, intern func(...*string)) bool
	// Normalize clears the fields of a decision that this API does not store, so that results compare equal.
	Normalize(decision Decision) Decision
	// Subresource returns the subresource with the decisions; empty when they are in the object itself.
	Subresource() string
	// Body returns the merge patch of the decisions, without metadata.
	Body(decisions []Decision) map[string]any
}
