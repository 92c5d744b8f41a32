package decision

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// pageState is a page on its way from what it holds to what it is to hold. A page that changes its group has two states: one for each group.
type pageState struct {
	name    string
	group   record.Group
	number  int
	current *existingPage // nil: to be created
	// page is what it is to become; nil when it goes.
	page *desiredPage
	// goes says that the group of the page goes, or needs the page no more. It holds its clusters until it is deleted in the end, unless it
	// makes room.
	goes bool
	// makesRoom says that the page goes before its index can have the group that it is to have: consumers expect one name at an index, also on
	// empty pages (docs/spec/differences.md B5). The last such page of an index is not deleted, because there must be no gap either: it is
	// emptied.
	makesRoom, last bool
	// renames says that it is such a last page, as it will be in the group that is to have the index.
	renames bool

	// at is its place in the order of the states, and within its group among those that stay.
	at     int
	within *membership
	// room is what has to be made at its index before it can be written; nil when there is no other group.
	room *room
	// holds and target are sets of clusters; lost and gained are where they differ, sorted by id.
	holds, target, lost, gained []int32
	open, gains, queued         bool
	// lacks is how many clusters would be in no page if the page were written now; grows is by how many its group would grow.
	lacks, grows int
}

// room is an index at which pages of another group have to go.
type room struct {
	// others are how many there are still. The last one is counted until it is renamed, which needs it to be empty.
	others int
	empty  bool
	// waiting are the states of the group that is to have the index.
	waiting []*pageState
}

// newPageStates are the states of the desired pages and of the existing ones that go, by group index and number.
func newPageStates(e *existing, pages []desiredPage) []*pageState {
	count := len(pages) + len(e.Pages)

	for i := range pages {
		if pages[i].current != nil && !pages[i].renamed() {
			count-- // It has one state and not two.
		}
	}

	memory, states := make([]pageState, 0, count), make([]*pageState, 0, count)
	stays := make([]bool, len(e.pages))

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
				name: page.name, group: current.group, number: page.number, current: current, goes: true, makesRoom: true, last: true,
			})

			current = nil
		}

		add(pageState{name: page.name, group: page.group, number: page.number, current: current, page: page, renames: renames})
	}

	for i := range e.writable() {
		if page := &e.pages[i]; !stays[i] {
			add(pageState{name: page.Name, group: page.group, number: page.number, current: page, goes: true})
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

	if !p.goes || p.makesRoom {
		p.lost, p.gained = without(p.holds, p.target), without(p.target, p.holds)
	}
}

// loses reports whether the write of the page takes a cluster from it.
func (p *pageState) loses(id int32) bool {
	_, found := slices.BinarySearch(p.lost, id)

	return found
}

// blocked reports whether pages of another group are in the way. A page that has the right name beside them already may be written:
// somebody has edited labels, and there is nothing to keep.
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

// set are ids, sorted and each once.
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

// without is what is in a and not in b; both are sorted.
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

// queue has the places of states in their order. They nearly always come in order too.
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
