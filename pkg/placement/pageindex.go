// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// pageIndex indexes the existing pages for one plan. It numbers the clusters, so that the plan compares ids instead of names and stores data
// of clusters in slices: the desired clusters come first, sorted by name, then the other clusters of the pages.
type pageIndex struct {
	Existing

	// desired are the desired clusters; others are the names of the ids after them.
	desired  clusterNames
	others   []string
	otherIDs map[string]int32

	// pages has the pages in the order of Existing.Pages; terminating pages come last.
	pages []existingPage
	// groupIndices has the group indices that have pages, in their order.
	groupIndices []groupIndex
	// scratch is scratch memory by id, which is zero between two uses.
	scratch []int32
}

// clusterNames are distinct names of clusters, sorted. They are those of the ClusterInfos if there are any, which saves a copy.
type clusterNames struct {
	infos []*clusterinfo.ClusterInfo
	names []string
}

func (n *clusterNames) count() int { return max(len(n.infos), len(n.names)) }

func (n *clusterNames) at(i int) string {
	if n.infos != nil {
		return n.infos[i].Name
	}
	return n.names[i]
}

// find returns the index of a name, searching from low to high.
func (n *clusterNames) find(name string, low, high int) (at int, found bool) {
	for low < high {
		middle := (low + high) / 2
		if n.at(middle) < name {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < n.count() && n.at(low) == name
}

// existingPage is a page with the data that a plan derives from it.
type existingPage struct {
	*api.Page

	at       int // its place among the pages
	number   int
	group    api.Group
	deleting bool
	// clusters are the ids of its decisions, in their order.
	clusters []int32
}

// wellNamed reports whether the page has a name as PageName returns it.
func (p *existingPage) wellNamed() bool { return p.number != unnumbered }

// newPageIndex indexes the pages and numbers the desired clusters.
func newPageIndex(existing Existing, desired clusterNames) *pageIndex {
	p := &pageIndex{Existing: existing, desired: desired, pages: make([]existingPage, 0, len(existing.Pages)+len(existing.terminating))}
	for i, pages := range [][]*api.Page{existing.Pages, existing.terminating} {
		for _, page := range pages {
			p.pages = append(p.pages, existingPage{
				Page: page, at: len(p.pages), number: existing.number(page.Name), group: existing.groupOf(page), deleting: i > 0,
			})
		}
	}
	grouped := p.byGroup()
	ids := make([]int32, 0, existing.count())
	for _, page := range grouped {
		start := len(ids)
		ids = p.appendIDs(ids, page.Decisions)
		page.clusters = ids[start:len(ids):len(ids)]
	}

	p.groupIndices = newGroupIndices(grouped, ids)
	p.scratch = make([]int32, p.ids())
	return p
}

// byGroup returns the pages sorted by group index and name, so that the ids of a group are adjacent. Pages without an existing group come
// last: terminating pages, and pages whose names are not those of PageName.
func (p *pageIndex) byGroup() []*existingPage {
	grouped := make([]*existingPage, len(p.pages))
	for i := range p.pages {
		grouped[i] = &p.pages[i]
	}
	byGroup := func(a, b *existingPage) int {
		if a.group == b.group && a.grouped() == b.grouped() {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Or(-compareBools(a.grouped(), b.grouped()), cmp.Compare(a.group.Index, b.group.Index), strings.Compare(a.group.Name, b.group.Name))
	}
	if !slices.IsSortedFunc(grouped, byGroup) {
		slices.SortFunc(grouped, byGroup)
	}

	return grouped
}

// grouped reports whether the group of the page exists because of it.
func (p *existingPage) grouped() bool { return !p.deleting && p.wellNamed() }

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// appendIDs appends the ids of the clusters of decisions.
func (p *pageIndex) appendIDs(ids []int32, decisions []api.Decision) []int32 {
	next := 0
	for i := range decisions {
		name := decisions[i].Cluster
		if at, found := p.search(name, next); found {
			ids = append(ids, int32(at))
			next = at + 1
			continue
		}
		ids = append(ids, p.otherID(name))
	}
	return ids
}

// search returns the id of a name among the desired clusters. Pages list clusters by name in the common case, so the search begins after
// the last found cluster and doubles its steps, which merges the two lists.
func (p *pageIndex) search(name string, next int) (at int, found bool) {
	count := p.desired.count()
	if next < count && p.desired.at(next) == name {
		return next, true
	}
	low, high := next, next
	for step := 1; high < count && p.desired.at(high) < name; step *= 2 {
		low, high = high+1, high+step
	}

	if high == next {
		low = 0 // The cluster comes before the last one.
	}
	return p.desired.find(name, low, min(high+1, count))
}

// otherID returns the id of a cluster that is not desired, and assigns it if needed.
func (p *pageIndex) otherID(name string) int32 {
	id, known := p.otherIDs[name]
	if !known {
		if p.otherIDs == nil {
			p.otherIDs = map[string]int32{}
		}
		id = int32(p.ids())
		p.otherIDs[name], p.others = id, append(p.others, name)
	}
	return id
}

// ids returns the number of clusters with ids, which count from 0.
func (p *pageIndex) ids() int { return p.desired.count() + len(p.others) }

// isDesired reports whether a cluster is desired.
func (p *pageIndex) isDesired(id int32) bool { return int(id) < p.desired.count() }

// writable returns the pages that are not terminating.
func (p *pageIndex) writable() []existingPage { return p.pages[:len(p.Pages)] }

// terminatingPages returns the pages that are terminating.
func (p *pageIndex) terminatingPages() []existingPage { return p.pages[len(p.Pages):] }

// holdsDesired reports whether the writable pages have all desired clusters and no others.
func (p *pageIndex) holdsDesired() bool {
	defer clear(p.scratch)
	found := 0
	for i := range p.writable() {
		for _, id := range p.pages[i].clusters {
			if !p.isDesired(id) {
				return false
			}
			if p.scratch[id] == 0 {
				p.scratch[id] = 1
				found++
			}
		}
	}

	return found == p.desired.count()
}

// decisions returns the existing decisions by id; nil for a cluster without one. Of two pages with the same cluster the first page takes
// precedence, and terminating pages come last.
func (p *pageIndex) decisions() []*api.Decision {
	decisions := make([]*api.Decision, p.ids())
	for i := range slices.Backward(p.pages) {
		page := &p.pages[i]
		for n, id := range page.clusters {
			decisions[id] = &page.Decisions[n]
		}
	}
	return decisions
}
