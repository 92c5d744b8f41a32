package decision

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// slot is a page on its way from what it holds to what it is to hold. A page that changes its group has two slots: one for each group.
type slot struct {
	name    string
	group   record.Group
	number  int
	current *record.Page // nil: to be created
	// page is what it is to become; nil when it goes.
	page *Page
	// goes says that the group of the page goes, or needs the page no more. It holds its clusters until it is deleted in the end, unless it
	// makes room.
	goes bool
	// makesRoom says that the page goes before its index can have the group that it is to have: consumers expect one name at an index, also on
	// empty pages (docs/spec/differences.md B5). The last such page of an index is not deleted, because there must be no gap either: it is
	// emptied.
	makesRoom, last bool
	// renames says that it is such a last page, as it will be in the group that is to have the index.
	renames bool

	// at is its place in the order of the slots, and within its group among those that stay.
	at     int
	within *membership
	// room is what has to be made at its index before it can be written; nil when there is no other group.
	room *room
	// holds and target are clusters in the order of their ids; lost and gained are where they differ.
	holds, target, lost, gained []int32
	open, gains, queued         bool
	// lacks is how many clusters would stand nowhere if the page were written now; grows is by how many its group would grow.
	lacks, grows int
}

// room is an index at which pages of another group have to go.
type room struct {
	// others are how many there are still. The last one is counted until it is renamed, which needs it to be empty.
	others int
	empty  bool
	// waiting are the slots of the group that is to have the index.
	waiting []*slot
}

// moveKind is what a move does with a page.
type moveKind int

const (
	// fill has a page hold what it is to hold, and be of its group.
	fill moveKind = iota
	// park has clusters wait in a page that goes.
	park
	// empty takes all clusters from a page that is to change its group.
	empty
	// drop deletes a page that makes room.
	drop
)

// move is one write of a page on the way.
type move struct {
	kind moveKind
	slot *slot
	// waiting are clusters that are parked in the page.
	waiting []string
}

// sequence finds an order of writes for a set of pages in which no cluster that stays is missing from all pages between any two writes
// (docs/spec/differences.md B1), no page ever holds more than it may, no group grows beyond its length, every index has one group and there
// is no gap (docs/spec/differences.md B5).
//
// A page may be written as soon as every staying cluster that it gives away stands in another page too, and all pages of other groups
// have left its index. Pages that gain come before pages that only lose. New indices come in their order, because nothing keeps a new
// group from being filled. Where pages exchange clusters in a ring and there is no room for both, one side waits in a page of its own behind
// the last group, which goes in the end.
type sequence struct {
	roster

	length int
	slots  []*slot
	names  *pageNames
	moves  []move
	// ready are open slots that may be written: those that gain, and those that only lose.
	ready [2]queue
	// left is how many slots are open, and first is before all of them.
	left, first int
	// highest is the greatest index of a group.
	highest int
	// spares are empty pages behind the last group that go: those that were made to park clusters, by a plan that was cut off before they
	// could be filled. Where filling fails again and again, the next try must not make another one.
	spares []*slot
}

func newSequence(present Present, pages []Page, length int) *sequence {
	s := &sequence{length: length, names: present.unusedNames(), highest: present.highest()}
	stays := make(map[string]bool, len(pages))
	ordered := true

	for i := range pages {
		page := &pages[i]
		stays[page.Name], s.names.used[page.Name] = true, true
		added := &slot{name: page.Name, group: page.Group, number: present.number(page.Name), current: page.Current, page: page}

		if page.renamed(present) {
			added.current, added.renames = nil, true
			s.slots = append(s.slots, &slot{
				name: page.Name, group: present.groupOf(page.Current), number: added.number, current: page.Current, goes: true,
				makesRoom: true, last: true,
			})
		}

		s.slots = append(s.slots, added)
		ordered = ordered && added.current != nil && holdsInOrder(page)
	}

	for _, page := range present.Pages {
		if !stays[page.Name] {
			s.slots = append(s.slots, &slot{
				name: page.Name, group: present.groupOf(page), number: present.number(page.Name), current: page, goes: true,
			})
		}
	}

	slices.SortStableFunc(s.slots, func(a, b *slot) int {
		return cmp.Or(cmp.Compare(a.group.Index, b.group.Index), cmp.Compare(a.number, b.number))
	})

	if rooms := s.makeRooms(); !ordered || rooms {
		s.count()
	}

	return s
}

// holdsInOrder reports whether a page holds exactly what it is to hold in the same order, so that it need not be counted.
func holdsInOrder(page *Page) bool {
	return slices.EqualFunc(page.Current.Decisions, page.Clusters, func(d record.Decision, cluster string) bool { return d.Cluster == cluster })
}

// makeRooms finds the indices that have pages of another group than they are to have, and reports whether there are any.
func (s *sequence) makeRooms() bool {
	names := make(map[int]string, len(s.slots))

	for _, p := range s.slots {
		if !p.goes {
			names[p.group.Index] = p.group.Name
		}
	}

	rooms := map[int]*room{}

	for _, p := range s.slots {
		name, stays := names[p.group.Index]
		if !p.goes || !stays || name == p.group.Name {
			continue
		}

		if rooms[p.group.Index] == nil {
			rooms[p.group.Index] = &room{}
		}

		p.makesRoom, p.room = true, rooms[p.group.Index]
		p.room.others++
		p.room.empty = p.room.empty || p.last && len(p.current.Decisions) == 0
	}

	for _, p := range s.slots {
		if at := rooms[p.group.Index]; at != nil && !p.goes {
			p.room = at
			at.waiting = append(at.waiting, p)
		}
	}

	return len(rooms) > 0
}

// count takes stock of who stands where, and finds what has to be written.
func (s *sequence) count() {
	s.roster = newRoster(s.slots)
	last := 0

	for at, p := range s.slots {
		p.at = at
		s.highest = max(s.highest, p.group.Index)

		if !p.goes {
			last = max(last, p.group.Index)
		}

		if p.makesRoom {
			p.open = !p.last || !p.room.empty
		} else {
			p.open = !p.goes && (p.current == nil || len(p.lost)+len(p.gained) > 0)
		}

		if p.open {
			p.gains = !p.goes && (p.current == nil || len(p.gained) > 0)
			s.left++
		}
	}

	s.watch(s.slots)

	for _, p := range s.slots {
		if p.goes && !p.makesRoom && len(p.holds) == 0 && p.group.Index > last {
			s.spares = append(s.spares, p)
		}

		s.consider(p)
	}
}

// run finds the moves.
func (s *sequence) run() []move {
	for s.left > 0 {
		p := s.next()
		if p == nil && s.park() {
			continue
		}

		if p == nil {
			// Nothing waits for anything, but there is no room: somebody's pages hold more than pages may. A group grows for a moment.
			p = s.firstOpen()
		}

		s.write(p)
	}

	return s.moves
}

// next is the first slot that may be written, one that gains if there is any; nil when there is none.
func (s *sequence) next() *slot {
	for kind := range s.ready {
		for queue := &s.ready[kind]; len(*queue) > 0; {
			p := s.slots[queue.pop()]
			p.queued = false

			if s.may(p) {
				return p
			}
		}
	}

	return nil
}

// may reports whether a slot may be written now. Its group must not grow beyond its length; pages that go are on their way out and do
// not count.
func (s *sequence) may(p *slot) bool {
	return p.open && p.lacks == 0 && (p.goes || !p.blocked() && (p.grows <= 0 || p.within.size+p.grows <= s.length))
}

// blocked reports whether pages of another group are in the way. A page that has the right name beside them already may be written:
// somebody has edited labels, and there is nothing to keep.
func (p *slot) blocked() bool {
	switch {
	case p.room == nil || p.current != nil:
		return false
	case p.renames:
		return p.room.others > 1 || !p.room.empty
	default:
		return p.room.others > 0
	}
}

// consider queues a slot if it may be written.
func (s *sequence) consider(p *slot) {
	if p.queued || !s.may(p) {
		return
	}

	p.queued = true

	if p.gains {
		s.ready[0].push(p.at)
	} else {
		s.ready[1].push(p.at)
	}
}

func (s *sequence) firstOpen() *slot {
	for !s.slots[s.first].open {
		s.first++
	}

	return s.slots[s.first]
}

// write has a page hold what it is to hold, or make room.
func (s *sequence) write(p *slot) {
	p.open = false
	s.left--

	for _, cluster := range p.lost {
		s.leave(p, cluster)
	}

	for _, cluster := range p.gained {
		s.enter(p, cluster)
	}

	for _, cluster := range p.gained {
		s.freed(cluster)
	}

	switch {
	case p.last:
		s.moves = append(s.moves, move{kind: empty, slot: p})
		p.room.empty = true
	case p.goes:
		s.moves = append(s.moves, move{kind: drop, slot: p})
		p.room.others--
	default:
		s.moves = append(s.moves, move{kind: fill, slot: p})
	}

	if p.renames {
		p.room.others--
	}

	if p.room != nil {
		for _, waiting := range p.room.waiting {
			s.consider(waiting)
		}
	}

	if p.goes {
		return
	}

	for _, other := range p.within.open {
		s.consider(other)
	}
}

// freed queues the pages that wait for a cluster to stand elsewhere.
func (s *sequence) freed(cluster int32) {
	for _, other := range s.losers[cluster] {
		s.consider(other)
	}
}

// park lets the clusters for which the first blocked page waits stand in a page of their own, behind the last group; false when no page
// waits for any. Among pages that hold no more than they may there is such a page: as long as every open page may be written, one of them
// makes its group no longer than it was or may be.
func (s *sequence) park() bool {
	from := s.firstOpen().at

	at := slices.IndexFunc(s.slots[from:], func(p *slot) bool { return p.open && p.lacks > 0 })
	if at < 0 {
		return false
	}

	missing := s.missing(s.slots[from+at])
	name := s.destination(missing[0])
	missing = slices.DeleteFunc(missing, func(cluster int32) bool { return s.destination(cluster) != name })
	missing = missing[:min(len(missing), PageSize, s.length)]
	parked := s.spare(name)

	for _, cluster := range missing {
		s.enter(parked, cluster)
		s.freed(cluster)
	}

	s.moves = append(s.moves, move{kind: park, slot: parked, waiting: s.clusters(missing)})

	return true
}

// missing are the clusters that stay and would stand nowhere if the page were written now, by name.
func (s *sequence) missing(p *slot) []int32 {
	missing := slices.Clone(p.lost)
	missing = slices.DeleteFunc(missing, func(cluster int32) bool { return !s.stays(cluster) || s.holders[cluster] > 1 })

	slices.SortFunc(missing, func(a, b int32) int { return cmp.Compare(s.cluster[a], s.cluster[b]) })

	return missing
}

// spare is a page to park clusters of a group name in: one that is left over, or a new one.
func (s *sequence) spare(name string) *slot {
	if i := slices.IndexFunc(s.spares, func(p *slot) bool { return p.group.Name == name }); i >= 0 {
		spare := s.spares[i]
		s.spares = slices.Delete(s.spares, i, i+1)

		return spare
	}

	s.highest++
	parked := &slot{group: record.Group{Index: s.highest, Name: name}, at: len(s.slots), goes: true}
	parked.name = s.names.next(parked.group)
	parked.number, _ = PageNumber(s.names.placement, parked.name) // A name that was handed out has a number.
	s.slots = append(s.slots, parked)

	return parked
}

// destination is the name of the group that a cluster goes to.
func (s *sequence) destination(cluster int32) string { return s.slots[s.to[cluster]].group.Name }

// deletes are the slots that go and have not made room, from the highest group index down, so that there is never a gap.
func (s *sequence) deletes() []*slot {
	deletes := []*slot{}

	for _, p := range s.slots {
		if p.goes && !p.makesRoom {
			deletes = append(deletes, p)
		}
	}

	slices.SortStableFunc(deletes, func(a, b *slot) int {
		return cmp.Or(cmp.Compare(b.group.Index, a.group.Index), cmp.Compare(b.number, a.number))
	})

	return deletes
}
