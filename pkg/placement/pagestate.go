// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// pageState is the transition of a page from its existing to its desired clusters. A page that changes its group has two states, one for
// each group.
type pageState struct {
	name    string
	group   api.Group
	number  int
	current *existingPage // nil: to be created
	// page is the desired page; nil when the page is deleted.
	page *desiredPage
	// surplus reports whether the group does not need the page any more. The page keeps its clusters until it is deleted at the end, unless it
	// makes room.
	surplus bool
	// makesRoom reports whether the page is removed before its index can get its new group: consumers expect one name at an index, also on
	// empty pages (docs/spec/differences.md B5). The last such page of an index is emptied instead of deleted, because there must be no gap
	// either.
	makesRoom, last bool
	// renames reports whether it is such a last page in its new group.
	renames bool

	// at is its place in the order of the states, and within its group among those that stay.
	at     int
	within *membership
	// room is the room that must be made at its index before it can be written; nil when there is no other group.
	room *room
	// holds and target are the existing and the desired clusters; lost and gained are their differences. All are sorted by id.
	holds, target, lost, gained []int32
	open, gains, queued         bool
	// lacks is the number of clusters that would be on no page if the page were written now; grows is the growth of its group then.
	lacks, grows int
}

// room is an index whose pages of another group have to be removed.
type room struct {
	// others is the number of these pages that are left. The last page counts until it is renamed, which needs it to be empty.
	others int
	empty  bool
	// waiting are the states of the new group of the index.
	waiting []*pageState
}

// newPageStates returns the states of the desired pages and of the existing pages that are deleted, by group index and number.
func newPageStates(index *pageIndex, pages []desiredPage) []*pageState {
	count := len(pages) + len(index.Pages)
	for i := range pages {
		if pages[i].current != nil && !pages[i].renamed() {
			count-- // It has one state and not two.
		}
	}
	memory, states := make([]pageState, 0, count), make([]*pageState, 0, count)
	stays := make([]bool, len(index.pages))

	add := func(state pageState) {
		memory = append(memory, state)
		states = append(states, &memory[len(memory)-1])
	}

	for i := range pages {
		page := &pages[i]
		current := page.current
		if current != nil {
			stays[current.at] = true
		}

		renames := page.renamed()
		if renames {
			add(pageState{
				name: page.name, group: current.group, number: page.number, current: current, surplus: true, makesRoom: true, last: true,
			})
			current = nil
		}
		add(pageState{name: page.name, group: page.group, number: page.number, current: current, page: page, renames: renames})
	}

	for i := range index.writable() {
		if page := &index.pages[i]; !stays[i] {
			add(pageState{name: page.Name, group: page.group, number: page.number, current: page, surplus: true})
		}
	}
	slices.SortStableFunc(states, func(a, b *pageState) int {
		return cmp.Or(cmp.Compare(a.group.Index, b.group.Index), cmp.Compare(a.number, b.number))
	})

	for at, p := range states {
		p.at = at
	}
	return states
}

// compare finds the clusters that the page loses and gains.
func (p *pageState) compare() {
	if p.page != nil && !p.renames && p.page.holdsItsClusters() {
		p.holds, p.target = p.page.clusters, p.page.clusters
		return
	}
	if p.current != nil {
		p.holds = set(p.current.clusters)
	}
	if p.page != nil {
		p.target = set(p.page.clusters)
	}

	if !p.surplus || p.makesRoom {
		p.lost, p.gained = without(p.holds, p.target), without(p.target, p.holds)
	}
}

// loses reports whether the write of the page takes a cluster from it.
func (p *pageState) loses(id int32) bool {
	_, found := slices.BinarySearch(p.lost, id)
	return found
}

// blocked reports whether pages of another group block the index. If a page with the right name exists beside them, labels were edited, and
// the page may be written.
func (p *pageState) blocked() bool {
	switch {
	case p.room == nil || p.current != nil:
		return false
	case p.renames:
		return p.room.others > 1 || !p.room.empty
	default:
		return p.room.others > 0
	}
}

// set returns the ids sorted and without duplicates.
func set(ids []int32) []int32 {
	ascending := true
	for i := 1; ascending && i < len(ids); i++ {
		ascending = ids[i-1] < ids[i]
	}
	if ascending {
		return ids
	}
	ids = slices.Sorted(slices.Values(ids))
	return slices.Compact(ids)
}

// without returns the ids of a that are not in b; both are sorted.
func without(a, b []int32) []int32 {
	var rest []int32
	for _, id := range a {
		for len(b) > 0 && b[0] < id {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != id {
			rest = append(rest, id)
		}
	}
	return rest
}

// queue has the indices of states, sorted. They are nearly always added in order.
type queue []int

func (q *queue) push(at int) {
	i, _ := slices.BinarySearch(*q, at)
	*q = slices.Insert(*q, i, at)
}

func (q *queue) pop() int {
	first := (*q)[0]
	*q = (*q)[1:]
	return first
}
