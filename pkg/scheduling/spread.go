package scheduling

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// SpreadConstraint asks to spread the selected clusters evenly over the values of a label or a claim (docs/spec/differences.md D2).
type SpreadConstraint struct {
	// Key is the label or claim whose values are the domains.
	Key clusterinfo.Property
	// MaxSkew is how many more selected clusters a domain may have than the one with the fewest; at least 1.
	MaxSkew int
	// Hard says that the skew is never exceeded (DoNotSchedule); else it is a wish (ScheduleAnyway).
	Hard bool
}

// domain is the domain of a cluster; false when the cluster does not have the key.
func (c SpreadConstraint) domain(f *clusterinfo.ClusterInfo) (string, bool) { return f.Value(c.Key) }

// Spread is how the selected clusters are spread over the domains of one constraint.
type Spread struct {
	Constraint SpreadConstraint
	// Selected counts the selected clusters of each domain of the feasible clusters that anti-affinity leaves.
	Selected map[string]int
	// Without are the selected clusters that do not have the key, sorted.
	Without []string
}

// bounds are the domains with the fewest and with the most selected clusters, by name among equals; false without any domain.
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

// Skew is the difference between the fullest and the emptiest domain; 0 without any domain.
func (s Spread) Skew() int {
	fewest, most, found := s.bounds()
	if !found {
		return 0
	}

	return s.Selected[most] - s.Selected[fewest]
}

// Problem says by name what is not as the constraint asks; both are empty when nothing is. The reason is SkewExceeded or DomainsMissing.
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

// hardConstraints are the hard constraints.
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

// clause says why the constraint forbids one more cluster; empty when it does not.
func (b hardConstraint) clause(f *clusterinfo.ClusterInfo) string {
	domain, found := b.Constraint.domain(f)

	switch {
	case !found:
		return fmt.Sprintf("has no %s, over which the clusters must be spread", b.Constraint.Key)
	case b.Selected[domain]+1-b.Selected[b.fewest] <= b.Constraint.MaxSkew:
		return ""
	default:
		return fmt.Sprintf("%s %s is full", b.Constraint.Key, domain)
	}
}

// spreadClause is the first clause for which a constraint does not let the cluster in, with that constraint; empty when all do.
func spreadClause(constraints []hardConstraint, f *clusterinfo.ClusterInfo) (clause string, by hardConstraint) {
	for _, by := range constraints {
		if clause := by.clause(f); clause != "" {
			return clause, by
		}
	}

	return "", hardConstraint{}
}

// spreadReason is the blockedClause with what is in the domains.
func spreadReason(spreads []Spread, f *clusterinfo.ClusterInfo) string {
	clause, by := spreadClause(hardConstraints(spreads), f)

	domain, found := by.Constraint.domain(f)
	if clause == "" || !found {
		return clause
	}

	return fmt.Sprintf("%s: it has %d selected clusters, %s has %d, and %d more are allowed",
		clause, by.Selected[domain], by.fewest, by.Selected[by.fewest], by.Constraint.MaxSkew)
}

// hasNoDomain reports whether a hard constraint never lets the cluster in, because it is in no domain.
func hasNoDomain(spreads []Spread, f *clusterinfo.ClusterInfo) bool {
	return slices.ContainsFunc(spreads, func(s Spread) bool {
		if !s.Constraint.Hard {
			return false
		}

		_, found := s.Constraint.domain(f)

		return !found
	})
}

// spreadsBefore is how the selected clusters lay before a cluster was taken.
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

// domainCounts is how full the domains of a cluster are, in the order of the constraints; a domain that it does not have counts as fullest.
func domainCounts(spreads []Spread, f *clusterinfo.ClusterInfo) []int {
	counts := make([]int, 0, len(spreads))

	for _, spread := range spreads {
		if domain, found := spread.Constraint.domain(f); found {
			counts = append(counts, spread.Selected[domain])
		} else {
			counts = append(counts, math.MaxInt)
		}
	}

	return counts
}
