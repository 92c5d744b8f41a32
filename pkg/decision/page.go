package decision

import (
	"cmp"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// PageSize is the greatest number of decisions in one PlacementDecision.
const PageSize = 100

// Page is what one PlacementDecision is to hold.
type Page struct {
	// Name is the name of the PlacementDecision.
	Name string
	// Group and GroupName are its decision group.
	Group     int
	GroupName string
	// Clusters are the decisions, sorted by name.
	Clusters []string
	// Current is the PlacementDecision as it is; nil when it does not exist yet.
	Current *clusterv1beta1.PlacementDecision
}

// Paginate cuts the groups into pages. A cluster keeps its page as it keeps its group; a group with more pages than it needs gives up
// those of the highest numbers, and new pages take the lowest free numbers. An empty group has one empty page.
//
// A single page is called "-1", because that name is written in many places: if it has another number and the first one is free, it
// is made anew.
func Paginate(present Present, groups []Group) []Page {
	names := present.unusedNames()

	var pages []Page

	for _, group := range groups {
		holds := make([][]string, 0, len(group.pages))
		for _, page := range group.pages {
			holds = append(holds, clusterNames(page))
		}

		cut := allot(group.Clusters, holds, PageSize)
		if len(cut) == 0 {
			cut = [][]string{{}}
		}

		first := len(pages)

		for i, clusters := range cut {
			page := Page{Group: group.Index, GroupName: group.Name, Clusters: clusters}
			if i < len(group.pages) {
				page.Current, page.Name = group.pages[i], group.pages[i].Name
			} else {
				page.Name = names.next(group)
			}

			pages = append(pages, page)
		}

		slices.SortFunc(pages[first:], func(a, b Page) int { return cmp.Compare(present.number(a.Name), present.number(b.Name)) })
	}

	if first := PageName(present.Placement.Name, 1); len(pages) == 1 && pages[0].Name != first && !names.used[first] {
		pages[0].Name, pages[0].Current = first, nil
	}

	return pages
}

// pageNames hands out the lowest names that nobody uses.
type pageNames struct {
	placement string
	used      map[string]bool
	recorded  map[string]groupKey
}

// unusedNames leaves out the pages that exist, the names of others, and names that the status of the placement records for another
// group: they may be used again when the record is gone.
func (p Present) unusedNames() *pageNames {
	names := &pageNames{placement: p.Placement.Name, used: map[string]bool{}, recorded: map[string]groupKey{}}

	for name := range p.Taken {
		names.used[name] = true
	}

	for _, page := range p.Pages {
		names.used[page.Name] = true
	}

	for _, group := range p.Placement.Status.DecisionGroups {
		for _, name := range group.Decisions {
			names.recorded[name] = groupKey{index: int(group.DecisionGroupIndex), name: group.DecisionGroupName}
		}
	}

	return names
}

func (n *pageNames) next(group Group) string {
	for number := 1; ; number++ {
		name := PageName(n.placement, number)
		if record, recorded := n.recorded[name]; n.used[name] || recorded && record != (groupKey{index: group.Index, name: group.Name}) {
			continue
		}

		n.used[name] = true

		return name
	}
}
