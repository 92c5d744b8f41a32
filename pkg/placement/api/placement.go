// SPDX-License-Identifier: Apache-2.0

package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Placement is a Placement of any API.
type Placement struct {
	metav1.ObjectMeta

	// API is the API of the Placement.
	API Adapter
	// Object is the API object. It may be shared with a cache and must not be modified.
	Object Object
	// ClusterSets are the ManagedClusterSets in its spec.
	ClusterSets []string
	// Wanted is the number of clusters in its spec; nil means all feasible clusters.
	Wanted *int32
	// Status is its existing status.
	Status Status

	convert func(*selector.Compiler) *scheduling.Request
}

// Key returns the key of the Placement in the inventory.
func (p *Placement) Key() inventory.Key {
	return inventory.NewPlacementKey(p.API.Name(), p.Namespace, p.Name)
}

// RemovalSubject returns what the removal budget reads of the Placement.
func (p *Placement) RemovalSubject() removalbudget.Subject {
	return removalbudget.Subject{
		API: string(p.API.Name()), Namespace: p.Namespace, Name: p.Name, Generation: p.Generation, Annotations: p.Annotations,
		Conditions: p.Status.Conditions,
	}
}

// Request converts the Placement to a Request, with its validation errors.
func (p *Placement) Request(compiler *selector.Compiler) *scheduling.Request {
	request := p.convert(compiler)
	worst, mistake := p.missingIsWorst()
	request.MissingIsWorst = worst
	if mistake != nil {
		request.Errors = append(request.Errors, mistake)
	}

	// Fields that could not be decoded are missing in the Request, which makes it invalid.
	for _, unread := range unreadable.Of(p).Under("spec") {
		request.Errors = append(request.Errors, field.Invalid(field.NewPath(unread.Path), unread.Text(), unread.Problem))
	}
	return request
}

// Status is the status of a Placement of any API. Each API stores only some of the fields.
type Status struct {
	// Conditions are stored by all APIs.
	Conditions []metav1.Condition
	// Selected is the number of selected clusters, and Groups are the decision groups in the order of their indices.
	Selected int
	Groups   []GroupStatus
	// Unlisted are the groups after those, for which the object has no room. They are not written.
	Unlisted []GroupStatus
	// LastScoreUpdate is the time of the last update of the scores in decisions; nil when they have none.
	LastScoreUpdate *metav1.Time
}

// GroupStatus is the status of a decision group.
type GroupStatus struct {
	Group

	// Pages are the names of its PlacementDecisions, and Clusters is the number of their decisions.
	Pages    []string
	Clusters int
}

// Managed reports whether the hub schedules the Placement (docs/spec/differences.md C5), and if not, the reason.
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
