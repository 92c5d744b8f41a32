package record

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

// Placement is a placement of any API.
type Placement struct {
	metav1.ObjectMeta

	// API is the API it is written in.
	API API
	// Object is the placement itself. It may be shared with a cache and is not changed.
	Object Object
	// ClusterSets are the sets its spec asks for.
	ClusterSets []string
	// Wanted is how many clusters its spec asks for; nil means all that fit.
	Wanted *int32
	// Status is what its status says.
	Status Status

	convert func(*selector.Compiler) *scheduling.Request
}

// Key names the placement.
func (p *Placement) Key() inventory.PlacementKey {
	return inventory.NewPlacementKey(p.API.Name(), p.Namespace, p.Name)
}

// Request is the question that the placement asks.
func (p *Placement) Request(compiler *selector.Compiler) *scheduling.Request {
	request := p.convert(compiler)

	// What could not be decoded is missing in the question, so there is no answer to it.
	for _, unread := range unreadable.Of(p).Under("spec") {
		request.Errors = append(request.Errors, field.Invalid(field.NewPath(unread.Path), unread.Text(), unread.Problem))
	}

	return request
}

// Status is the status of a placement of any API. Each API says a part of it.
type Status struct {
	// Conditions are of all APIs.
	Conditions []metav1.Condition
	// Selected is the number of selected clusters, and Groups are the decision groups in the order of their indices.
	Selected int
	Groups   []GroupStatus
	// Unlisted are the groups after those, for which an object has no room. They are not written.
	Unlisted []GroupStatus
	// LastScoreUpdate is when scores in decisions were last brought up to date; nil when there are none.
	LastScoreUpdate *metav1.Time
}

// GroupStatus describes one decision group.
type GroupStatus struct {
	Group

	// Pages are the names of its PlacementDecisions, and Clusters is how many decisions they have.
	Pages    []string
	Clusters int
}

// API is an API that asks for clusters.
type API interface {
	// Name is the name of the API group.
	Name() inventory.API
	// Form is how its decisions are written.
	Form() Form
	// Empty is an object to read a placement into.
	Empty() Object
	// EmptyList is one to read several into.
	EmptyList() runtime.Object
	// Read makes a Placement of an object of the API; nil when it is of another type.
	Read(object runtime.Object) *Placement
	// Status is the status as the API writes it.
	Status(status Status) any
}

// APIs are all of them.
func APIs() []API { return []API{V1beta1, V1alpha1} }

// Read makes a Placement of an object of any API; nil when it is none.
func Read(object runtime.Object) *Placement {
	for _, api := range APIs() {
		if placement := api.Read(object); placement != nil {
			return placement
		}
	}

	return nil
}

// Managed reports whether the placement is the hub's to schedule (docs/spec/differences.md C5); if not, it says why.
func (p *Placement) Managed() (managed bool, reason string) {
	switch {
	case !p.DeletionTimestamp.IsZero():
		return false, "the placement is being deleted"
	case p.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true":
		return false, "the annotation " + clusterv1beta1.PlacementDisableAnnotation + " is true"
	default:
		return true, ""
	}
}
