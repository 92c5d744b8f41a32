// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// SpreadConstraint spreads the selected clusters evenly over the values of a label or a claim (docs/spec/differences.md D2).
type SpreadConstraint struct {
	// Key is the label or claim whose values are the domains.
	Key clusterinfo.Property
	// MaxSkew is the maximal difference between the selected clusters of a domain and those of the domain with the fewest; at least 1.
	MaxSkew int
	// Hard reports whether MaxSkew is never exceeded (DoNotSchedule) or only preferred (ScheduleAnyway).
	Hard bool
}

// domain returns the domain of a cluster; false when the cluster does not have the key.
func (c SpreadConstraint) domain(info *clusterinfo.ClusterInfo) (string, bool) {
	return info.Value(c.Key)
}

// Spread is the distribution of the selected clusters over the domains of a constraint.
type Spread struct {
	Constraint SpreadConstraint
	// Selected has the number of selected clusters by domain. It includes every domain of the feasible clusters that anti-affinity allows.
	Selected map[string]int
	// Without are the names of the selected clusters that do not have the key, sorted.
	Without []string
}

// bounds returns the domains with the fewest and with the most selected clusters, the first by name among equals; false without any domain.
func (s Spread) bounds() (fewest, most string, found bool) {
	for _, domain := range slices.Sorted(maps.Keys(s.Selected)) {
		if !found || s.Selected[domain] < s.Selected[fewest] {
			fewest = domain
		}
		if !found || s.Selected[domain] > s.Selected[most] {
			most = domain
		}
		found = true
	}
	return fewest, most, found
}

// Skew returns the difference between the fullest and the emptiest domain; 0 without any domain.
func (s Spread) Skew() int {
	fewest, most, found := s.bounds()
	if !found {
		return 0
	}
	return s.Selected[most] - s.Selected[fewest]
}

// Problem returns how the distribution violates the constraint; both are empty when it does not. The reason is SkewExceeded or
// DomainsMissing.
func (s Spread) Problem() (reason, message string) {
	fewest, most, found := s.bounds()
	switch {
	case !found:
		return "DomainsMissing", fmt.Sprintf("no feasible cluster has the %s", s.Constraint.Key)
	case s.Skew() > s.Constraint.MaxSkew:
		return "SkewExceeded", fmt.Sprintf("%s: %s has %d and %s has %d selected clusters, which is more than the %d allowed between them",
			s.Constraint.Key, most, s.Selected[most], fewest, s.Selected[fewest], s.Constraint.MaxSkew)
	case len(s.Without) > 0:
		return "DomainsMissing", fmt.Sprintf("%d selected clusters do not have the %s, the first is %s",
			len(s.Without), s.Constraint.Key, s.Without[0])
	default:
		return "", ""
	}
}

// hardConstraint is a hard constraint with the domain that has the fewest selected clusters.
type hardConstraint struct {
	Spread

	fewest string
}

// hardConstraints returns the hard constraints.
func hardConstraints(spreads []Spread) []hardConstraint {
	var hard []hardConstraint
	for _, spread := range spreads {
		if spread.Constraint.Hard {
			fewest, _, _ := spread.bounds()
			hard = append(hard, hardConstraint{Spread: spread, fewest: fewest})
		}
	}
	return hard
}

// hasNoDomain reports whether a hard constraint never allows the cluster, because the cluster does not have its key.
func hasNoDomain(spreads []Spread, info *clusterinfo.ClusterInfo) bool {
	return slices.ContainsFunc(spreads, func(s Spread) bool {
		if !s.Constraint.Hard {
			return false
		}
		_, found := s.Constraint.domain(info)
		return !found
	})
}

// spreadsBefore returns the distribution without the selected cluster.
func spreadsBefore(spreads []Spread, taken *clusterinfo.ClusterInfo) []Spread {
	earlier := slices.Clone(spreads)
	for i, spread := range earlier {
		if domain, found := spread.Constraint.domain(taken); found {
			earlier[i].Selected = maps.Clone(spread.Selected)
			earlier[i].Selected[domain]--
		}
	}
	return earlier
}

// domainCounts returns the number of selected clusters in each domain of a cluster, in the order of the constraints; a missing domain
// counts as the fullest.
func domainCounts(spreads []Spread, info *clusterinfo.ClusterInfo) []int {
	counts := make([]int, 0, len(spreads))
	for _, spread := range spreads {
		if domain, found := spread.Constraint.domain(info); found {
			counts = append(counts, spread.Selected[domain])
		} else {
			counts = append(counts, math.MaxInt)
		}
	}
	return counts
}
