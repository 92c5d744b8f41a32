// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// PageSize is the maximal number of decisions in a PlacementDecision.
const PageSize = 100

// desiredPage is a desired PlacementDecision.
type desiredPage struct {
	name   string
	number int
	group  api.Group
	// clusters are the ids of its clusters, in their order.
	clusters []int32
	// absent reports whether the page has no list of clusters at all, and keeps none.
	absent bool
	// current is the existing PlacementDecision; nil when it does not exist yet.
	current *existingPage
	// written reports whether a step of the writeOrder writes the page.
	written bool
}

// renamed reports whether an existing page changes its group.
func (p *desiredPage) renamed() bool { return p.current != nil && p.current.group != p.group }

// holdsItsClusters reports whether the page exists and has exactly the desired clusters in their order.
func (p *desiredPage) holdsItsClusters() bool {
	return p.current != nil && slices.Equal(p.current.clusters, p.clusters)
}

// paginate cuts the groups into pages. A cluster keeps its page as it keeps its group; a group with more pages than it needs gives up
// those of the highest numbers, and new pages take the lowest free numbers. An empty group has one empty page. When the pages are to be
// sorted, the clusters of a group fill its pages in their order instead.
//
// A single page is called "-1", because that name is written in many places: if it has another number and the first one is free, it
// is made anew. A page that changes its group has to do that first.
func (p *pageIndex) paginate(groups []desiredGroup, sorted bool) []desiredPage {
	names := p.unusedNames()
	pages := make([]desiredPage, 0, max(len(groups), len(p.pages)))
	for i := range groups {
		pages = p.appendPages(pages, &groups[i], &names, sorted)
	}
	if len(pages) != 1 || pages[0].number == 1 || pages[0].renamed() {
		return pages
	}

	if first := PageName(p.Placement.Name, 1); !names.taken(first) {
		pages[0].name, pages[0].number, pages[0].current = first, 1, nil
	}
	return pages
}

// appendPages appends the pages of a group, in the order of their numbers.
func (p *pageIndex) appendPages(pages []desiredPage, group *desiredGroup, names *pageNames, sorted bool) []desiredPage {
	cut := p.cut(group, sorted)
	start := len(pages)
	for i := range max(1, divideUp(len(group.clusters), PageSize)) {
		page := desiredPage{group: group.Group, clusters: group.clusters}
		if cut != nil {
			page.clusters = cut[i]
		}
		if i < len(group.pages) {
			page.current, page.name, page.number = group.pages[i], group.pages[i].Name, group.pages[i].number
		} else {
			page.name = names.next(group.Group)
			page.number = p.number(page.name)
		}

		pages = append(pages, page)
	}

	added := pages[start:]
	byNumber := func(a, b desiredPage) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	}
	if !slices.IsSortedFunc(added, byNumber) {
		slices.SortFunc(added, byNumber)
	}

	if sorted && cut != nil {
		for i := range added {
			added[i].clusters = cut[i]
		}
	}
	return pages
}

// cut divides the clusters of a group among its pages; nil when one page holds them all.
func (p *pageIndex) cut(group *desiredGroup, sorted bool) [][]int32 {
	if len(group.clusters) <= PageSize {
		return nil
	}
	if sorted {
		return slices.Collect(slices.Chunk(group.clusters, PageSize))
	}
	holds := make([][]int32, 0, len(group.pages))

	for _, page := range group.pages {
		if page.group == group.Group {
			holds = append(holds, page.clusters)
		}
	}
	return p.allot(group.clusters, holds, PageSize)
}

// kept returns all existing writable pages unchanged.
func (p *pageIndex) kept() []desiredPage {
	pages := make([]desiredPage, 0, len(p.Pages))
	for i := range p.writable() {
		current := &p.pages[i]
		pages = append(pages, desiredPage{
			name: current.Name, number: current.number, group: current.group, clusters: current.clusters, absent: current.Decisions == nil,
			current: current,
		})
	}
	slices.SortStableFunc(pages, func(a, b desiredPage) int { return compareGroups(a.group, b.group) })
	return pages
}

// pageNames allocates the lowest unused page names. Existing pages, pages of others, and pages that the status of the Placement lists in
// another group use their names.
type pageNames struct {
	existing Existing
	used     map[string]bool // filled when it is needed
	low      int             // The names of all numbers up to it are used.
}

func (e Existing) unusedNames() pageNames { return pageNames{existing: e} }

// taken reports whether a name is used.
func (n *pageNames) taken(name string) bool {
	if n.used == nil {
		n.used = make(map[string]bool, len(n.existing.Pages)+len(n.existing.Taken))
		for name := range n.existing.Taken {
			n.used[name] = true
		}
		for _, page := range n.existing.Pages {
			n.used[page.Name] = true
		}
	}
	return n.used[name]
}

// take marks a name as used.
func (n *pageNames) take(name string) {
	if !n.taken(name) {
		n.used[name] = true
	}
}

// next allocates the lowest unused name for a page of a group.
func (n *pageNames) next(group api.Group) string {
	for number := n.low + 1; ; number++ {
		name := PageName(n.existing.Placement.Name, number)
		taken := n.taken(name)
		if taken && number == n.low+1 {
			n.low = number
		}
		if recorded, is := n.existing.statusGroups[name]; taken || is && recorded != group {
			continue
		}
		n.take(name)
		return name
	}
}
