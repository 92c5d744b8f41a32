package decision

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// Groups cuts every portion into groups of at most so many members, and gives every group its index: first all groups of the first portion,
// then those of the second, and so on (docs/spec/differences.md B8). A portion without clusters makes no group; when nothing is selected
// there is one empty group without a name.
//
// Where nothing exists yet, members follow the order of the answer. From then on a group that exists keeps its index while that is one of
// its portion's, and otherwise moves as a whole to an index of its portion that has no group of it. A portion that has more groups than it
// needs gives up the highest of those that would have to move.
//
// An index that a page in deletion keeps for another name is passed over. It gets an empty group of that name, because consumers expect
// one name at each index and no gap (docs/spec/differences.md B5), until the page is gone.
func Groups(portions []Portion, length int, present Present) []Group {
	sites := present.sites()
	blocks := sites.blocks(portions, length)
	movers := sites.movers(blocks)

	var groups []Group

	for n, portion := range portions {
		block := blocks[n]
		for i, clusters := range allot(portion.Clusters, sites.members(block, portion, movers), length) {
			block[i].Clusters = clusters
		}

		groups = append(groups, block...)
	}

	if len(groups) == 0 {
		groups = []Group{{Group: record.Group{Index: sites.next(0, "")}}}
	}

	groups = sites.withPlaceholders(groups)
	for i := range groups {
		groups[i].pages = sites.pages(groups[i].Group)
	}

	return groups
}

// site is what has a group index.
type site struct {
	// groups are the groups of the pages that can be written. There is one, unless somebody has edited labels.
	groups []*Group
	// strays are pages whose names are not those of pages. They have a group, but are not used for it.
	strays []*record.Page
	// leaving are the group names of pages that are being deleted.
	leaving []string
}

// sites are the group indices that exist.
type sites map[int]*site

func (p Present) sites() sites {
	sites := sites{}

	for _, page := range p.Pages {
		group := p.groupOf(page)
		at := sites.at(group.Index)

		if _, ours := PageNumber(p.Placement.Name, page.Name); !ours {
			at.strays = append(at.strays, page)

			continue
		}

		own := at.group(group.Name)
		if own == nil {
			own = &Group{Group: group}
			at.groups = append(at.groups, own)
		}

		own.pages = append(own.pages, page)
		own.Clusters = append(own.Clusters, page.Clusters()...)
	}

	for _, page := range p.leaving {
		group := p.groupOf(page)
		at := sites.at(group.Index)
		at.leaving = append(at.leaving, group.Name)
	}

	return sites
}

func (s sites) at(index int) *site {
	if s[index] == nil {
		s[index] = &site{}
	}

	return s[index]
}

// group is the group of a name at the site; nil when there is none, or no site.
func (s *site) group(name string) *Group {
	if s == nil {
		return nil
	}

	for _, group := range s.groups {
		if group.Name == name {
			return group
		}
	}

	return nil
}

// blocks are the groups that each portion needs, at indices in their order.
func (s sites) blocks(portions []Portion, length int) [][]Group {
	blocks := make([][]Group, len(portions))
	index := 0

	for n, portion := range portions {
		for range (len(portion.Clusters) + length - 1) / length {
			index = s.next(index, portion.Name)
			blocks[n] = append(blocks[n], Group{Group: record.Group{Index: index, Name: portion.Name}})
			index++
		}
	}

	return blocks
}

// next is the first index from this one on that can have a group of the name.
func (s sites) next(index int, name string) int {
	for s[index].keeps(name) {
		index++
	}

	return index
}

// keeps reports whether the index cannot become one of a group of the name for now, because a page of another name stays there whatever
// is written: one that is being deleted, or one that would be.
func (s *site) keeps(name string) bool {
	if s == nil || s.group(name) != nil {
		return false
	}

	if slices.ContainsFunc(s.leaving, func(other string) bool { return other != name }) {
		return true
	}

	lingering := 0

	for _, page := range s.others() {
		if len(page.Finalizers) > 0 {
			lingering++
		}
	}

	return lingering > 1 // A single one takes the other name.
}

// others are all pages at the site that can be written, those first that are best used for another group: a page with finalizers lingers
// when it is deleted, and a stray is not called as pages are.
func (s *site) others() []*record.Page {
	var pages []*record.Page
	for _, group := range s.groups {
		pages = append(pages, group.pages...)
	}

	pages = append(pages, s.strays...)
	slices.SortStableFunc(pages, func(a, b *record.Page) int {
		return cmp.Compare(min(len(b.Finalizers), 1), min(len(a.Finalizers), 1))
	})

	return pages
}

// pages are those that exist for a group, or else the one at its index that becomes the first one of it.
func (s sites) pages(group record.Group) []*record.Page {
	at := s[group.Index]
	if own := at.group(group.Name); own != nil {
		return own.pages
	}

	if at == nil {
		return nil
	}

	others := at.others()

	return others[:min(1, len(others))]
}

// movers are the groups by name that exist at an index which is not one of their portion's, in the order of the indices.
func (s sites) movers(blocks [][]Group) map[string][]*Group {
	wanted := map[record.Group]bool{}

	for _, block := range blocks {
		for _, group := range block {
			wanted[group.Group] = true
		}
	}

	movers := map[string][]*Group{}

	for _, at := range s {
		for _, group := range at.groups {
			if !wanted[group.Group] {
				movers[group.Name] = append(movers[group.Name], group)
			}
		}
	}

	for _, named := range movers {
		slices.SortFunc(named, func(a, b *Group) int { return cmp.Compare(a.Index, b.Index) })
	}

	return movers
}

// members are the clusters that each group of a block has already: its own, or those of a group that moves there.
func (s sites) members(block []Group, portion Portion, movers map[string][]*Group) [][]string {
	members := make([][]string, len(block))
	for i, group := range block {
		if own := s[group.Index].group(group.Name); own != nil {
			members[i] = own.Clusters
		}
	}

	if len(movers[portion.Name]) == 0 {
		return members
	}

	stays := make(map[string]bool, len(portion.Clusters))
	for _, cluster := range portion.Clusters {
		stays[cluster] = true
	}

	empty := func(clusters []string) bool {
		return !slices.ContainsFunc(clusters, func(cluster string) bool { return stays[cluster] })
	}

	for i := range block {
		if !empty(members[i]) {
			continue
		}

		for left := movers[portion.Name]; len(left) > 0; left = movers[portion.Name] {
			movers[portion.Name] = left[1:]

			if !empty(left[0].Clusters) {
				members[i] = left[0].Clusters

				break
			}
		}
	}

	return members
}

// withPlaceholders adds empty groups at the indices that were passed over, and at those below a page that is being deleted, which would
// leave a gap.
func (s sites) withPlaceholders(groups []Group) []Group {
	end := groups[len(groups)-1].Index + 1

	for index, at := range s {
		if len(at.leaving) > 0 {
			end = max(end, index)
		}
	}

	if len(groups) == end {
		return groups
	}

	taken := make(map[int]bool, len(groups))
	for _, group := range groups {
		taken[group.Index] = true
	}

	for index, at := range s {
		if index >= 0 && index < end && !taken[index] {
			groups = append(groups, Group{Group: record.Group{Index: index, Name: at.name()}})
		}
	}

	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Index, b.Index) })

	return groups
}

// name is the group name that consumers see at the site.
func (s *site) name() string {
	switch {
	case len(s.leaving) > 0:
		return s.leaving[0]
	case len(s.groups) > 0:
		return s.groups[0].Name
	default:
		return ""
	}
}
