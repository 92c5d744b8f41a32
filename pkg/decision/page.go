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

// Paginate cuts the groups into pages and finds the PlacementDecision for each: one that was made for the same group, else a new one
// of the lowest free number.
func Paginate(present Present, groups []Group) []Page {
	vacant := map[groupKey][]*clusterv1beta1.PlacementDecision{}
	used := map[string]bool{}

	for _, page := range present.Pages {
		used[page.Name] = true

		if _, ok := PageNumber(present.Placement.Name, page.Name); ok {
			vacant[present.groupOf(page)] = append(vacant[present.groupOf(page)], page)
		}
	}

	next := 0
	unusedName := func() string {
		for {
			next++
			if name := PageName(present.Placement.Name, next); !used[name] && !present.Taken[name] {
				return name
			}
		}
	}

	var pages []Page

	for _, group := range groups {
		key := groupKey{index: group.Index, name: group.Name}
		members := pieces(group.Clusters)
		first := len(pages)

		for range members {
			page := Page{Group: group.Index, GroupName: group.Name}

			if candidates := vacant[key]; len(candidates) > 0 {
				page.Current, vacant[key] = candidates[0], candidates[1:]
				page.Name = page.Current.Name
			} else {
				page.Name = unusedName()
			}

			pages = append(pages, page)
		}

		// The members follow the numbers, as they will when all pages exist: a new page may have a lower number than an old one.
		slices.SortFunc(pages[first:], func(a, b Page) int { return cmp.Compare(present.number(a.Name), present.number(b.Name)) })

		for i, clusters := range members {
			pages[first+i].Clusters = clusters
		}
	}

	return pages
}

// pieces cuts into pages; an empty group has one empty page.
func pieces(clusters []string) [][]string {
	if len(clusters) == 0 {
		return [][]string{{}}
	}

	return slices.Collect(slices.Chunk(clusters, PageSize))
}
