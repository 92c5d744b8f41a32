package scheduling

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Request is a placement's question. It is made by one of the Lower functions and not changed afterwards.
type Request struct {
	// Key names the placement.
	Key inventory.PlacementKey
	// ClusterSets limits the scope to these sets; empty means every set bound to the namespace.
	ClusterSets []string
	// Wanted is how many clusters are asked for; nil means all that are feasible.
	Wanted *int32
	// Predicates are ORed; none means every cluster passes.
	Predicates []Predicate
	// Tolerations let a cluster pass in spite of its taints.
	Tolerations []clusterv1beta1.Toleration
	// Prioritizers are run in this order; the total score is the weighted sum.
	Prioritizers []Prioritizer
	// Spread are the constraints on where the selected clusters lie, in this order.
	Spread []SpreadConstraint
	// Groups divide the selected clusters, in this order; what none of them takes is the rest.
	Groups []GroupRule
	// GroupLength bounds the members of one decision group.
	GroupLength GroupLength
	// Mistakes are what is wrong with the question, by field. A request with mistakes has no answer.
	Mistakes field.ErrorList
}

// Predicate is one of the ORed requirements.
type Predicate struct {
	// Path is the place of the predicate in the user's object.
	Path *field.Path
	// Selector is the compiled requirement.
	Selector *selector.Selector
}

// GroupRule puts the clusters that match into decision groups of a name.
type GroupRule struct {
	Name     string
	Selector *selector.Selector
}

// GroupLength is a number of clusters, or a share of the selected ones. The zero value is no bound.
type GroupLength struct {
	Clusters int
	Percent  int
}

// Of is the greatest number of members of one group when so many clusters are selected; it is at least 1.
func (l GroupLength) Of(selected int) int {
	length := l.Clusters
	if l.Percent > 0 {
		length = (l.Percent*selected + 99) / 100
	}

	if length <= 0 || length > selected {
		length = selected
	}

	return max(length, 1)
}

// Interest is what the placement looks at.
func (r *Request) Interest() inventory.Interest {
	reads := []facts.Key{{Kind: facts.Taint}}
	for _, predicate := range r.Predicates {
		reads = append(reads, predicate.Selector.Reads()...)
	}

	for _, prioritizer := range r.Prioritizers {
		reads = append(reads, prioritizer.reads()...)
	}

	for _, constraint := range r.Spread {
		reads = append(reads, constraint.Key)
	}

	for _, group := range r.Groups {
		reads = append(reads, group.Selector.Reads()...)
	}

	return inventory.Interest{ClusterSets: r.ClusterSets, Reads: reads}
}
