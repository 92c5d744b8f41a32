// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// groupIndex is a group index that has pages.
type groupIndex struct {
	index int
	// groups are the groups of the writable pages, in the order of their first pages. There is only one, unless labels were edited.
	groups []existingGroup
	// misnamed are the pages whose names PageName does not return. They have a group index, but belong to no group.
	misnamed []*existingPage
	// deleting are the group names of the terminating pages.
	deleting []string
}

// existingGroup is a group that has pages.
type existingGroup struct {
	api.Group

	pages []*existingPage
	// clusters are the clusters of all pages; a cluster that is on two of them is listed twice.
	clusters []int32
}

// newGroupIndices returns the indices of pages that are sorted by group (see pageIndex.byGroup), whose clusters are adjacent in ids.
func newGroupIndices(pages []*existingPage, ids []int32) []groupIndex {
	var indices []groupIndex
	groups := make([]existingGroup, 0, len(pages))
	for len(pages) > 0 && pages[0].grouped() {
		group, size, clusters := pages[0].group, 0, 0
		for size < len(pages) && pages[size].grouped() && pages[size].group == group {
			clusters += len(pages[size].clusters)
			size++
		}
		groups = append(groups, existingGroup{Group: group, pages: pages[:size:size], clusters: ids[:clusters:clusters]})
		pages, ids = pages[size:], ids[clusters:]

		if last := len(indices) - 1; last >= 0 && indices[last].index == group.Index {
			start := len(groups) - 1 - len(indices[last].groups)
			indices[last].groups = groups[start:len(groups):len(groups)]
			continue
		}
		last := groups[len(groups)-1 : len(groups) : len(groups)]
		indices = append(slices.Grow(indices, len(pages)+1), groupIndex{index: group.Index, groups: last})
	}

	for i := range indices {
		if len(indices[i].groups) > 1 {
			slices.SortFunc(indices[i].groups, func(a, b existingGroup) int { return cmp.Compare(a.pages[0].at, b.pages[0].at) })
		}
	}

	// The other pages are sorted by group, but are used in the order of the pages.
	slices.SortFunc(pages, func(a, b *existingPage) int { return cmp.Compare(a.at, b.at) })
	for _, page := range pages {
		at, found := searchGroupIndex(indices, page.group.Index)
		if !found {
			indices = slices.Insert(indices, at, groupIndex{index: page.group.Index})
		}
		if page.deleting {
			indices[at].deleting = append(indices[at].deleting, page.group.Name)
		} else {
			indices[at].misnamed = append(indices[at].misnamed, page)
		}
	}

	return indices
}

func searchGroupIndex(indices []groupIndex, index int) (at int, found bool) {
	if index >= 0 && index < len(indices) && indices[index].index == index { // Indices have no gap in the common case.
		return index, true
	}
	return slices.BinarySearchFunc(indices, index, func(g groupIndex, index int) int { return cmp.Compare(g.index, index) })
}

// groupIndex returns the pages of an index; nil when no page has the index.
func (p *pageIndex) groupIndex(index int) *groupIndex {
	at, found := searchGroupIndex(p.groupIndices, index)
	if !found {
		return nil
	}
	return &p.groupIndices[at]
}

// group returns the group with the name at the index; nil when there is none, or no index.
func (g *groupIndex) group(name string) *existingGroup {
	if g == nil {
		return nil
	}
	for i := range g.groups {
		if g.groups[i].Name == name {
			return &g.groups[i]
		}
	}
	return nil
}

// blocks reports whether the index cannot get a group with the name yet, because a page with another group name exists there whatever is
// written: a terminating page, or a page whose finalizers keep it after its deletion.
func (g *groupIndex) blocks(name string) bool {
	if g == nil || g.group(name) != nil {
		return false
	}
	if slices.ContainsFunc(g.deleting, func(other string) bool { return other != name }) {
		return true
	}
	lingering := 0

	for _, page := range g.others() {
		if len(page.Finalizers) > 0 {
			lingering++
		}
	}
	return lingering > 1 // A single page takes the other name.
}

// others returns all writable pages at the index, pages that are best used for another group first: those with finalizers, which exist on
// after their deletion, and well named pages before misnamed ones.
func (g *groupIndex) others() []*existingPage {
	var pages []*existingPage
	for _, group := range g.groups {
		pages = append(pages, group.pages...)
	}
	pages = append(pages, g.misnamed...)
	slices.SortStableFunc(pages, func(a, b *existingPage) int {
		return cmp.Compare(min(len(b.Finalizers), 1), min(len(a.Finalizers), 1))
	})
	return pages
}

// pagesOf returns the existing pages of a group, or else the page at its index that becomes its first page.
func (p *pageIndex) pagesOf(group api.Group) []*existingPage {
	at := p.groupIndex(group.Index)
	if own := at.group(group.Name); own != nil {
		return own.pages
	}
	if at == nil {
		return nil
	}
	others := at.others()
	return others[:min(1, len(others))]
}

// name returns the group name that consumers see at the index.
func (g *groupIndex) name() string {
	switch {
	case len(g.deleting) > 0:
		return g.deleting[0]
	case len(g.groups) > 0:
		return g.groups[0].Name
	default:
		return ""
	}
}
