package decision

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// slot is a page on its way from what it holds to what it is to hold.
type slot struct {
	name    string
	group   record.Group
	number  int
	current *record.Page // nil: to be created
	goes    bool         // It is deleted in the end.

	// at is its place in the order of the slots, and within its group among those that stay.
	at     int
	within *membership
	// holds and target are clusters in the order of their ids; lost and gained are where they differ.
	holds, target, lost, gained []int32
	open, gains, queued         bool
	// lacks is how many clusters would stand nowhere if the page were written now; grows is by how many its group would grow.
	lacks, grows int
}

// move is one write of a page on the way.
type move struct {
	slot *slot
	// waiting are clusters that are parked in the page; nil when it comes to hold what it is to hold.
	waiting []string
}

// sequence finds an order of writes for a set of pages in which no cluster that stays is missing from all pages between any two writes
// (ours.md B1), no page ever holds more than it may, and no group grows beyond its length.
//
// A page may be written as soon as every staying cluster that it gives away stands in another page too. Pages that gain come before
// pages that only lose. Where pages exchange clusters in a ring and there is no room for both, one side waits in a page of its own
// behind the last group, which goes in the end.
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
	s := &sequence{length: length, names: present.unusedNames()}
	kept := make(map[string]bool, len(pages))
	targets := make(map[*slot][]string, len(pages))

	for _, page := range pages {
		kept[page.Name], s.names.used[page.Name] = true, true
		added := &slot{name: page.Name, group: page.Group, number: present.number(page.Name), current: page.Current}
		targets[added] = page.Clusters
		s.slots = append(s.slots, added)
	}

	for _, page := range present.Pages {
		if !kept[page.Name] {
			s.slots = append(s.slots, &slot{
				name: page.Name, group: present.groupOf(page), number: present.number(page.Name), current: page, goes: true,
			})
		}
	}

	slices.SortStableFunc(s.slots, func(a, b *slot) int {
		return cmp.Or(cmp.Compare(a.group.Index, b.group.Index), cmp.Compare(a.number, b.number))
	})

	if slices.ContainsFunc(pages, func(page Page) bool { return !holdsInOrder(page) }) {
		s.count(targets)
	}

	return s
}

// holdsInOrder reports whether a page exists and holds exactly what it is to hold in the same order, so that it need not be counted.
func holdsInOrder(page Page) bool {
	return page.Current != nil && slices.EqualFunc(page.Current.Decisions, page.Clusters, func(d record.Decision, cluster string) bool {
		return d.Cluster == cluster
	})
}

// count takes stock of who stands where, and finds what has to be written.
func (s *sequence) count(targets map[*slot][]string) {
	s.roster = newRoster(s.slots, targets)
	s.highest = -1
	last := 0

	for at, p := range s.slots {
		p.at = at
		s.highest = max(s.highest, p.group.Index)

		if !p.goes {
			last = max(last, p.group.Index)
		}

		if p.open = !p.goes && (p.current == nil || len(p.lost)+len(p.gained) > 0); p.open {
			p.gains = p.current == nil || len(p.gained) > 0
			s.left++
		}
	}

	s.watch(s.slots)

	for _, p := range s.slots {
		if p.goes && len(p.holds) == 0 && p.group.Index > last {
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
	return p.open && p.lacks == 0 && (p.grows <= 0 || p.within.size+p.grows <= s.length)
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

// write has a page hold what it is to hold.
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

	for _, other := range p.within.open {
		s.consider(other)
	}

	s.moves = append(s.moves, move{slot: p})

	if p.current == nil {
		p.current = &record.Page{}
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

	s.moves = append(s.moves, move{slot: parked, waiting: s.clusters(missing)})

	if parked.current == nil {
		parked.current = &record.Page{}
	}

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

// deletes are the slots that go, in a safe order: first those that share their index with a group that stays, because consumers see one
// of the two, and then from the highest group index down.
func (s *sequence) deletes() []*slot {
	stays := map[int]bool{}
	deletes := []*slot{}

	for _, p := range s.slots {
		if p.goes {
			deletes = append(deletes, p)
		} else {
			stays[p.group.Index] = true
		}
	}

	slices.SortStableFunc(deletes, func(a, b *slot) int {
		if stays[a.group.Index] != stays[b.group.Index] {
			if stays[a.group.Index] {
				return -1
			}

			return 1
		}

		return cmp.Or(cmp.Compare(b.group.Index, a.group.Index), cmp.Compare(b.number, a.number))
	})

	return deletes
}
