package decision

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Present is what exists for a placement when a plan is made.
type Present struct {
	// Placement is the placement with its present status.
	Placement *clusterv1beta1.Placement
	// Pages are the PlacementDecisions of the placement, by number; those with other names come last, by name.
	Pages []*clusterv1beta1.PlacementDecision
	// Taken are page names that belong to somebody else (ours.md B4).
	Taken map[string]bool

	// leaving are pages of the placement that are being deleted: they hold decisions, but nothing can be written to them.
	leaving []*clusterv1beta1.PlacementDecision
}

// NewPresent sorts the PlacementDecisions of the placement's namespace that may be its own (see PlacementsOf).
func NewPresent(placement *clusterv1beta1.Placement, candidates []*clusterv1beta1.PlacementDecision) Present {
	present := Present{Placement: placement, Taken: map[string]bool{}}

	for _, page := range candidates {
		owned := Owns(placement, page)
		if owned && page.DeletionTimestamp.IsZero() {
			present.Pages = append(present.Pages, page)

			continue
		}

		present.Taken[page.Name] = true

		if owned {
			present.leaving = append(present.leaving, page)
		}
	}

	slices.SortFunc(present.Pages, func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(present.number(a.Name), present.number(b.Name)), cmp.Compare(a.Name, b.Name))
	})

	return present
}

// number is the number of a page name; other names come after all that have one.
func (p Present) number(name string) int {
	if n, ok := PageNumber(p.Placement.Name, name); ok {
		return n
	}

	return math.MaxInt
}

// Incumbents are the clusters in the present decisions.
func (p Present) Incumbents() map[string]bool {
	incumbents := map[string]bool{}

	for _, page := range slices.Concat(p.Pages, p.leaving) {
		for _, decision := range page.Status.Decisions {
			incumbents[decision.ClusterName] = true
		}
	}

	return incumbents
}

// groupKey names a decision group as it stands in the labels of its pages.
type groupKey struct {
	index int
	name  string
}

// groups are the groups that exist, by name and in the order of their indices. Pages with other names than ours have no group.
func (p Present) groups() map[string][]Group {
	byKey := map[groupKey]*Group{}

	for _, page := range p.Pages {
		if _, ok := PageNumber(p.Placement.Name, page.Name); !ok {
			continue
		}

		key := p.groupOf(page)
		if byKey[key] == nil {
			byKey[key] = &Group{Index: key.index, Name: key.name}
		}

		byKey[key].pages = append(byKey[key].pages, page)
		byKey[key].Clusters = append(byKey[key].Clusters, clusterNames(page)...)
	}

	groups := map[string][]Group{}

	for key, group := range byKey {
		groups[key.name] = append(groups[key.name], *group)
	}

	for _, named := range groups {
		slices.SortFunc(named, func(a, b Group) int { return cmp.Compare(a.Index, b.Index) })
	}

	return groups
}

func clusterNames(page *clusterv1beta1.PlacementDecision) []string {
	names := make([]string, 0, len(page.Status.Decisions))
	for _, decision := range page.Status.Decisions {
		names = append(names, decision.ClusterName)
	}

	return names
}

// groupOf is the group that a page was made for: the one the placement's status records, else the one its labels say, else the first
// unnamed one. The record comes first because labels get lost and are changed by others (ours.md B4).
func (p Present) groupOf(page *clusterv1beta1.PlacementDecision) groupKey {
	for _, group := range p.Placement.Status.DecisionGroups {
		if slices.Contains(group.Decisions, page.Name) {
			return groupKey{index: int(group.DecisionGroupIndex), name: group.DecisionGroupName}
		}
	}

	index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	if err != nil {
		return groupKey{}
	}

	return groupKey{index: index, name: page.Labels[clusterv1beta1.DecisionGroupNameLabel]}
}
