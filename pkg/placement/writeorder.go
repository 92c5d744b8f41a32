// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// stepKind is the kind of a step.
type stepKind int

const (
	// fill writes the desired clusters and group of a page.
	fill stepKind = iota
	// spill adds clusters to a page that is deleted later.
	spill
	// empty removes all clusters from a page that changes its group.
	empty
	// drop deletes a page that makes room.
	drop
)

// step is a write of a page.
type step struct {
	kind  stepKind
	state *pageState
	// waiting are the clusters that a spill page keeps meanwhile.
	waiting []int32
}

// writeOrder orders the writes of pages so that between any two writes no staying cluster is missing from all pages
// (docs/spec/differences.md B1), no page exceeds PageSize, no group exceeds its length, every index has one group and there is no gap
// (docs/spec/differences.md B5).
//
// A page may be written as soon as every staying cluster that it gives away is on another page too, and all pages of other groups have left
// its index. Pages that gain come before pages that only lose. New indices come in their order, because nothing keeps a new group from
// being filled. Where pages exchange clusters in a cycle and there is no room for both, one side waits on a spill page behind the last
// group, which is deleted at the end.
type writeOrder struct {
	*pageIndex
	occupancy

	length int
	pages  []desiredPage
	states []*pageState
	names  *pageNames
	steps  []step
	// ready are the open pages that may be written: those that gain, and those that only lose.
	ready [2]queue
	// left is the number of open pages, and first precedes all of them.
	left, first int
	// highest is the highest index of a group.
	highest int
	// spares are empty pages behind the last group that go: spill pages of a plan that was cut off before they could be filled. Where
	// filling fails again and again, the next try must not make another one.
	spares []*pageState
}

// newWriteOrder returns the write order of the desired pages; length is the maximal number of clusters in a group. It is nil when every
// existing page keeps its clusters.
func newWriteOrder(p *pageIndex, pages []desiredPage, length int) *writeOrder {
	if unchanged(p, pages) {
		return nil
	}
	w := &writeOrder{pageIndex: p, length: length, pages: pages, states: newPageStates(p, pages), highest: p.highestTerminating()}
	w.makeRooms()
	w.prepare()
	return w
}

// unchanged reports whether the desired pages are the existing pages, and each keeps its clusters, their order and its group.
func unchanged(p *pageIndex, pages []desiredPage) bool {
	changes := func(page desiredPage) bool { return page.renamed() || !page.holdsItsClusters() }
	return len(pages) == len(p.Pages) && !slices.ContainsFunc(pages, changes)
}

// makeRooms collects the indices with pages of another than their new group.
func (w *writeOrder) makeRooms() {
	if !slices.ContainsFunc(w.states, func(p *pageState) bool { return p.surplus }) {
		return
	}
	names := make(map[int]string, len(w.states))
	for _, p := range w.states {
		if !p.surplus {
			names[p.group.Index] = p.group.Name
		}
	}
	rooms := map[int]*room{}

	for _, p := range w.states {
		name, stays := names[p.group.Index]
		if !p.surplus || !stays || name == p.group.Name {
			continue
		}
		if rooms[p.group.Index] == nil {
			rooms[p.group.Index] = &room{}
		}
		p.makesRoom, p.room = true, rooms[p.group.Index]
		p.room.others++
		p.room.empty = p.room.empty || p.last && len(p.current.Decisions) == 0
	}

	for _, p := range w.states {
		if at := rooms[p.group.Index]; at != nil && !p.surplus {
			p.room = at
			at.waiting = append(at.waiting, p)
		}
	}
}

// prepare collects the pages to be written, and the pages that block them.
func (w *writeOrder) prepare() {
	last := 0
	for _, p := range w.states {
		p.compare()
		w.highest = max(w.highest, p.group.Index)
		if !p.surplus {
			last = max(last, p.group.Index)
		}
		if p.makesRoom {
			p.open = !p.last || !p.room.empty
		} else {
			p.open = !p.surplus && (p.current == nil || len(p.lost)+len(p.gained) > 0)
		}

		if p.open {
			p.gains = !p.surplus && (p.current == nil || len(p.gained) > 0)
			w.left++
		}
	}

	w.occupancy = newOccupancy(w.pageIndex, w.states)
	w.watch(w.states)
	for _, p := range w.states {
		if p.surplus && !p.makesRoom && len(p.holds) == 0 && p.group.Index > last {
			w.spares = append(w.spares, p)
		}
		w.consider(p)
	}
}

// run returns the steps.
func (w *writeOrder) run() []step {
	for w.left > 0 {
		p := w.next()
		if p == nil && w.spill() {
			continue
		}
		if p == nil {
			// No page waits for another, but there is no room: existing pages have more clusters than allowed. A group exceeds its length
			// until the next write.
			p = w.firstOpen()
		}
		w.write(p)
	}

	return w.steps
}

// next returns the first page that may be written, preferring pages that gain; nil when there is none.
func (w *writeOrder) next() *pageState {
	for kind := range w.ready {
		for queue := &w.ready[kind]; len(*queue) > 0; {
			p := w.states[queue.pop()]
			p.queued = false
			if w.may(p) {
				return p
			}
		}
	}
	return nil
}

// may reports whether a page may be written now. Its group must not grow beyond its length; pages that go do not count.
func (w *writeOrder) may(p *pageState) bool {
	return p.open && p.lacks == 0 && (p.surplus || !p.blocked() && (p.grows <= 0 || p.within.size+p.grows <= w.length))
}

// consider queues a page if it may be written.
func (w *writeOrder) consider(p *pageState) {
	if p.queued || !w.may(p) {
		return
	}
	p.queued = true
	if p.gains {
		w.ready[0].push(p.at)
	} else {
		w.ready[1].push(p.at)
	}
}

func (w *writeOrder) firstOpen() *pageState {
	for !w.states[w.first].open {
		w.first++
	}
	return w.states[w.first]
}

// write writes the desired clusters of a page, or makes room.
func (w *writeOrder) write(p *pageState) {
	p.open = false
	w.left--
	for _, cluster := range p.lost {
		w.leave(p, cluster)
	}
	for _, cluster := range p.gained {
		w.enter(p, cluster)
	}

	for _, cluster := range p.gained {
		w.freed(cluster)
	}
	switch {
	case p.last:
		w.steps = append(w.steps, step{kind: empty, state: p})
		p.room.empty = true
	case p.surplus:
		w.steps = append(w.steps, step{kind: drop, state: p})
		p.room.others--
	default:
		w.steps = append(w.steps, step{kind: fill, state: p})
	}

	if p.renames {
		p.room.others--
	}
	if p.room != nil {
		for _, waiting := range p.room.waiting {
			w.consider(waiting)
		}
	}

	if p.surplus {
		return
	}
	for _, other := range p.within.open {
		w.consider(other)
	}
}

// freed queues the pages that wait until another page has a cluster.
func (w *writeOrder) freed(id int32) {
	for _, other := range w.occupant(id).giving {
		w.consider(other)
	}
}

// spill lets the clusters for which the first blocked page waits be in a page of their own, behind the last group; false when no page
// waits for any. Among pages that hold no more than they may there is such a page: as long as every open page may be written, one of them
// makes its group no longer than it was or may be.
func (w *writeOrder) spill() bool {
	from := w.firstOpen().at

	at := slices.IndexFunc(w.states[from:], func(p *pageState) bool { return p.open && p.lacks > 0 })
	if at < 0 {
		return false
	}
	missing := w.missing(w.states[from+at])
	name := w.destination(missing[0])
	missing = slices.DeleteFunc(missing, func(id int32) bool { return w.destination(id) != name })
	missing = missing[:min(len(missing), PageSize, w.length)]
	page := w.spillPage(name)
	for _, id := range missing {
		w.enter(page, id)
		w.freed(id)
	}

	w.steps = append(w.steps, step{kind: spill, state: page, waiting: missing})
	return true
}

// missing returns the staying clusters that would be on no page if the page were written now, by name.
func (w *writeOrder) missing(p *pageState) []int32 {
	missing := slices.Clone(p.lost)
	return slices.DeleteFunc(missing, func(id int32) bool {
		cluster := w.occupant(id)
		return !cluster.stays() || cluster.pages > 1
	})
}

// spillPage returns a page on which clusters of a group name can wait: a spare page, or a new page.
func (w *writeOrder) spillPage(name string) *pageState {
	if i := slices.IndexFunc(w.spares, func(p *pageState) bool { return p.group.Name == name }); i >= 0 {
		spare := w.spares[i]
		w.spares = slices.Delete(w.spares, i, i+1)
		return spare
	}

	if w.names == nil {
		names := w.unusedNames()
		w.names = &names
		for i := range w.pages {
			w.names.take(w.pages[i].name)
		}
	}

	w.highest++
	page := &pageState{group: api.Group{Index: w.highest, Name: name}, at: len(w.states), surplus: true}
	page.name = w.names.next(page.group)
	page.number = w.number(page.name)
	w.states = append(w.states, page)
	return page
}

// destination returns the name of the group that a cluster moves to.
func (w *writeOrder) destination(id int32) string { return w.occupant(id).to.group.Name }

// deletes returns the pages to be deleted that have not made room, from the highest group index down, so that there is never a gap.
func (w *writeOrder) deletes() []*pageState {
	deletes := []*pageState{}
	for _, p := range w.states {
		if p.surplus && !p.makesRoom {
			deletes = append(deletes, p)
		}
	}
	slices.SortStableFunc(deletes, func(a, b *pageState) int {
		return cmp.Or(cmp.Compare(b.group.Index, a.group.Index), cmp.Compare(b.number, a.number))
	})
	return deletes
}
