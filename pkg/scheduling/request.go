package scheduling

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
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
	// AntiAffinity is a label or a claim whose values must all differ between the selected clusters; nil for none.
	AntiAffinity *clusterinfo.Property
	// Spread are the constraints on where the selected clusters lie, in this order.
	Spread []SpreadConstraint
	// Groups divide the selected clusters, in this order; what none of them takes is the rest.
	Groups []GroupRule
	// GroupLength bounds the members of one decision group.
	GroupLength GroupLength
	// Order is how the decisions are sorted.
	Order Order
	// ScoreInterval is the least time between two updates of the scores in the decisions that change nothing else; 0 is no bound. It
	// counts when Order is ByScore.
	ScoreInterval time.Duration
	// Availability says that the decisions tell of each selected cluster whether it is available, so that a change of that is a change of
	// the answer.
	Availability bool
	// NoneIsEnough says that the answer is satisfactory when no cluster fits, unless a number of them is wanted.
	NoneIsEnough bool
	// Errors are what is wrong with the question, by field. A request with mistakes has no answer.
	Errors field.ErrorList
}

// Order is how decisions are sorted (docs/spec/differences.md D4).
type Order uint8

// The orders: by the name of the cluster, or by score, the highest first, and then by name.
const (
	ByName Order = iota
	ByScore
)

// String is "name" or "score".
func (o Order) String() string { return [...]string{"name", "score"}[o] }

// Predicate is one of the ORed requirements.
type Predicate struct {
	// Selector is the compiled requirement.
	Selector *selector.Selector
	// CEL is the place of its CEL expressions in the user's object; nil where there can be none.
	CEL *field.Path
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

// Ranks reports whether anything depends on which of the feasible clusters are better than others.
func (r *Request) Ranks() bool {
	return r.Wanted != nil || r.AntiAffinity != nil || len(r.Spread) > 0 || r.Order == ByScore
}

// ReadsDecisions reports whether the answer depends on which clusters stand in decisions of other placements.
func (r *Request) ReadsDecisions() bool {
	return r.Ranks() && slices.ContainsFunc(r.Prioritizers, func(p Prioritizer) bool { return p.BuiltIn == Balance || p.BuiltIn == SpreadScore })
}

// selectors are those of the predicates, in their order.
func (r *Request) selectors() []*selector.Selector {
	if len(r.Predicates) == 0 {
		return nil
	}

	selectors := make([]*selector.Selector, 0, len(r.Predicates))
	for _, predicate := range r.Predicates {
		selectors = append(selectors, predicate.Selector)
	}

	return selectors
}

// Dependencies is what the placement looks at.
func (r *Request) Dependencies() inventory.Dependencies {
	dependencies := inventory.Dependencies{
		ClusterSets: r.ClusterSets, Predicates: r.selectors(), Reads: []clusterinfo.Property{{Kind: clusterinfo.Taint}},
	}

	for _, prioritizer := range r.Prioritizers {
		// Scores that decide nothing are still watched for their expiry, of which the user is warned (docs/spec/differences.md C3).
		if r.Ranks() || prioritizer.BuiltIn == "" {
			dependencies.Reads = append(dependencies.Reads, prioritizer.reads()...)
		}

		dependencies.ScopeReads = append(dependencies.ScopeReads, prioritizer.scopeReads(r)...)
	}

	if r.AntiAffinity != nil {
		dependencies.Reads = append(dependencies.Reads, *r.AntiAffinity)
	}

	for _, constraint := range r.Spread {
		dependencies.Reads = append(dependencies.Reads, constraint.Key)
	}

	for _, group := range r.Groups {
		dependencies.Reads = append(dependencies.Reads, group.Selector.Reads()...)
	}

	if r.Availability {
		dependencies.Reads = append(dependencies.Reads, clusterinfo.Property{Kind: clusterinfo.Availability})
	}

	return dependencies
}

// ReadsScores reports whether AddOnPlacementScores can change the answer.
func (r *Request) ReadsScores() bool {
	dependencies := r.Dependencies()
	reads := slices.Concat(dependencies.Reads, dependencies.ScopeReads)

	for _, predicate := range dependencies.Predicates {
		reads = append(reads, predicate.Reads()...)
	}

	return slices.ContainsFunc(reads, func(read clusterinfo.Property) bool {
		return read.Kind == clusterinfo.Score || read.Kind == clusterinfo.Any
	})
}
