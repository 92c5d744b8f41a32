// SPDX-License-Identifier: Apache-2.0

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

// Request asks for clusters, in terms that do not depend on the API of the Placement. The Convert functions return it, and nothing changes
// it afterwards.
type Request struct {
	// Key identifies the Placement.
	Key inventory.Key
	// ClusterSets limits the scope to these ManagedClusterSets; empty means every set that is bound to the namespace.
	ClusterSets []string
	// Wanted is the requested number of clusters, 0 or more; nil means all feasible clusters.
	Wanted *int32
	// Predicates are ORed; without any, every cluster passes.
	Predicates []Predicate
	// Tolerations are checked against the taints of each cluster.
	Tolerations []clusterv1beta1.Toleration
	// NotTolerated are the keys of taints that no toleration tolerates.
	NotTolerated []string
	// Prioritizers score the feasible clusters in this order; the total score is the weighted sum.
	Prioritizers []Prioritizer
	// MissingIsWorst reports whether a cluster without a valid score of an AddOnPlacementScore gets the fewest points that the weight of the
	// prioritizer allows, instead of none.
	MissingIsWorst bool
	// AntiAffinity is a label or a claim whose value must differ between any two selected clusters; nil for none.
	AntiAffinity *clusterinfo.Property
	// Spread has the spread constraints; an earlier constraint takes precedence over a later one.
	Spread []SpreadConstraint
	// Groups assign the selected clusters to decision groups, in this order; clusters that match no rule come last.
	Groups []GroupRule
	// GroupLength is the maximal length of a decision group.
	GroupLength GroupLength
	// Order is the order of the decisions.
	Order Order
	// ScoreInterval is the minimal time between two updates of the scores in the decisions that change nothing else; 0 means no limit. It
	// applies when Order is ByScore.
	ScoreInterval time.Duration
	// Availability reports whether the decisions contain the availability of each selected cluster, so that a change of it changes the
	// decisions.
	Availability bool
	// NoneIsEnough reports whether a Result without any cluster satisfies the Request, as long as Wanted does not ask for more.
	NoneIsEnough bool
	// Errors are the validation errors by field path. A Request with errors selects nothing.
	Errors field.ErrorList
}

// Order is the order of decisions (docs/spec/differences.md D4).
type Order uint8

// The orders: by the name of the cluster, or by descending score and then by name.
const (
	ByName Order = iota
	ByScore
)

// String returns "name" or "score".
func (o Order) String() string { return [...]string{"name", "score"}[o] }

// Predicate is a requirement on clusters; the predicates of a Request are ORed.
type Predicate struct {
	// Selector is the compiled requirement.
	Selector *selector.Selector
	// CEL is the path of the CEL expressions in the Placement; nil when its API has none.
	CEL *field.Path
}

// GroupRule assigns the clusters that match Selector to the decision groups named Name.
type GroupRule struct {
	Name     string
	Selector *selector.Selector
}

// GroupLength is a number of clusters, or a percentage of the selected clusters. The zero value means no limit.
type GroupLength struct {
	Clusters int
	Percent  int
}

// Of returns the maximal length of a group when that many clusters are selected; it is at least 1.
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

// Ranks reports whether the Result depends on the order of the feasible clusters.
func (r *Request) Ranks() bool {
	return r.Wanted != nil || r.AntiAffinity != nil || len(r.Spread) > 0 || r.Order == ByScore
}

// ComparesAll reports whether clusters that are not selected decide which of the feasible clusters are selected: by the domains of constraints,
// or by scores that are relative to those of the others. Otherwise the selected clusters alone outrank one that is not.
func (r *Request) ComparesAll() bool {
	return r.Ranks() && (r.AntiAffinity != nil || len(r.Spread) > 0 ||
		slices.ContainsFunc(r.Prioritizers, func(p Prioritizer) bool { return p.plugin().relative }))
}

// selectors returns the selectors of the predicates, in their order.
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
