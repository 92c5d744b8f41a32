package record

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Object is an object of an API server.
type Object interface {
	metav1.Object
	runtime.Object
}

// Page is a PlacementDecision of any API.
type Page struct {
	metav1.ObjectMeta

	// Scheduler is who wrote the page, where the API says it.
	Scheduler string
	// Decisions are the selected clusters of the page. Nil says that the object has no list at all, which is not the same as an empty
	// one.
	Decisions []Decision
}

// MetadataOnly is a page with what tells whose it is, and without its decisions.
func MetadataOnly(object metav1.Object) *Page {
	return &Page{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Labels: object.GetLabels(), OwnerReferences: object.GetOwnerReferences(),
	}}
}

// Clusters are the names of the clusters of the page, in its order.
func (p *Page) Clusters() []string {
	names := make([]string, 0, len(p.Decisions))
	for _, decision := range p.Decisions {
		names = append(names, decision.Cluster)
	}

	return names
}

// InventoryPage is what the inventory counts of a page of an API.
func InventoryPage(api API, page *Page) inventory.Page {
	return inventory.Page{
		Key:      api.Form().Key(page.Namespace, page.Name),
		Owner:    inventory.NewPlacementKey(api.Name(), page.Namespace, api.Form().Placement(page)),
		Clusters: page.Clusters(),
	}
}

// Decision is one selected cluster. Beside the name, each Form has its own part of it.
type Decision struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string
	// Reason and Score are what v1beta1 says.
	Reason string
	Score  int64
	// Available is what v1alpha1 says.
	Available bool
	// Profile is the ClusterProfile that stands for the cluster where decisions name those.
	Profile clusterinfo.Profile
}

// Group names a decision group as its pages do.
type Group struct {
	// Index counts from 0.
	Index int
	// Name is the name of the group rule; empty for the rest.
	Name string
}

// Form is how an API writes PlacementDecisions.
type Form interface {
	Ownership
	Codec
}

// Ownership is what tells whose a page is.
type Ownership interface {
	// Key names a page for the inventory.
	Key(namespace, name string) inventory.DecisionKey
	// Owner is the kind of the placements that own the pages.
	Owner() schema.GroupVersionKind
	// Scheduler is who the pages say they are from; empty where the API does not say it.
	Scheduler() string
	// Foreign reports that a page is of somebody else who shares the names or labels of the form. It is never touched.
	Foreign(page *Page) bool
	// Placement is the placement that the labels of a page name; empty when they name none.
	Placement(page *Page) string
	// Labels are what a page of a placement carries.
	Labels(placement string, group Group) map[string]string
	// Group is the group that the labels of a page name; false when they name none.
	Group(page *Page) (Group, bool)
}

// Codec turns pages into objects of the API and back.
type Codec interface {
	// Empty and EmptyList are objects to read into.
	Empty() Object
	EmptyList() runtime.Object
	// Read makes a Page of an object of the API; nil when it is of another type.
	Read(object runtime.Object) *Page
	// Write makes an object of the API.
	Write(page *Page) Object
	// Normalize is the part of a decision that the API can say; decisions that are the same in this are the same.
	Normalize(decision Decision) Decision
	// Subresource is where the decisions are written; empty when they are a part of the object itself.
	Subresource() string
	// Body is the merge patch of the decisions, without metadata.
	Body(decisions []Decision) map[string]any
}
