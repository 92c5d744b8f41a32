package decision

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// PageSize is the greatest number of decisions in one PlacementDecision.
const PageSize = 100

// Page is what one PlacementDecision is to hold.
type Page struct {
	// Name is the name of the PlacementDecision, and Group its decision group.
	Name  string
	Group record.Group
	// Clusters are those in it, in the order of the answer; nil for a list that is not there.
	Clusters []string
	// Current is the PlacementDecision as it is; nil when it does not exist yet.
	Current *record.Page
}

// renamed reports whether a page that exists changes its group.
func (p *Page) renamed(present Present) bool {
	return p.Current != nil && present.groupOf(p.Current) != p.Group
}

// Paginate cuts the groups into pages. A cluster keeps its page as it keeps its group; a group with more pages than it needs gives up
// those of the highest numbers, and new pages take the lowest free numbers. An empty group has one empty page. When the pages are to be
// sorted, the clusters of a group fill its pages in their order instead.
//
// A single page is called "-1", because that name is written in many places: if it has another number and the first one is free, it
// is made anew. A page that changes its group has to do that first.
func Paginate(present Present, groups []Group, sorted bool) []Page {
	names := present.unusedNames()

	pages := make([]Page, 0, len(groups))

	for _, group := range groups {
		pages = append(pages, paginate(present, group, names, sorted)...)
	}

	first := PageName(present.Placement.Name, 1)
	if len(pages) == 1 && pages[0].Name != first && !names.used[first] && !pages[0].renamed(present) {
		pages[0].Name, pages[0].Current = first, nil
	}

	return pages
}

func paginate(present Present, group Group, names *pageNames, sorted bool) []Page {
	cut := slices.Collect(slices.Chunk(group.Clusters, PageSize))

	if !sorted {
		holds := make([][]string, 0, len(group.pages))
		for _, page := range group.pages {
			if present.groupOf(page) == group.Group {
				holds = append(holds, page.Clusters())
			}
		}

		cut = allot(group.Clusters, holds, PageSize)
	}

	if len(cut) == 0 {
		cut = [][]string{{}}
	}

	pages := make([]Page, 0, len(cut))

	for i, clusters := range cut {
		page := Page{Group: group.Group, Clusters: clusters}
		if i < len(group.pages) {
			page.Current, page.Name = group.pages[i], group.pages[i].Name
		} else {
			page.Name = names.next(group.Group)
		}

		pages = append(pages, page)
	}

	slices.SortFunc(pages, func(a, b Page) int { return present.compareNames(a.Name, b.Name) })

	if sorted {
		for i := range pages {
			pages[i].Clusters = cut[i]
		}
	}

	return pages
}

// pageNames hands out the lowest names that nobody uses.
type pageNames struct {
	placement string
	used      map[string]bool
	recorded  map[string]record.Group
	low       int // The names of all numbers up to it are used.
}

// unusedNames leaves out the pages that exist, the names of others, and names that the status of the placement records for another
// group: they may be used again when the record is gone.
func (p Present) unusedNames() *pageNames {
	names := &pageNames{placement: p.Placement.Name, used: make(map[string]bool, len(p.Pages)), recorded: p.recorded}

	for name := range p.Taken {
		names.used[name] = true
	}

	for _, page := range p.Pages {
		names.used[page.Name] = true
	}

	return names
}

func (n *pageNames) next(group record.Group) string {
	for number := n.low + 1; ; number++ {
		name := PageName(n.placement, number)

		if n.used[name] && number == n.low+1 {
			n.low = number
		}

		if recorded, is := n.recorded[name]; n.used[name] || is && recorded != group {
			continue
		}

		n.used[name] = true

		return name
	}
}
