package decision

import (
	"cmp"
	"maps"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// oldSlot is the slot of oldSequence.
type oldSlot struct {
	name    string
	group   record.Group
	number  int
	current *record.Page // nil: to be created
	holds   map[string]bool
	target  map[string]bool
	goes    bool // It is deleted in the end.
}

func (s *oldSlot) settled() bool { return s.goes || s.current != nil && maps.Equal(s.holds, s.target) }

func (s *oldSlot) gains() bool {
	for cluster := range s.target {
		if !s.holds[cluster] {
			return true
		}
	}

	return s.current == nil
}

// oldMove is the move of oldSequence.
type oldMove struct {
	oldSlot *oldSlot
	holds   map[string]bool
}

// oldSequence is the naive form of sequence, which looks at every page for every write.
type oldSequence struct {
	present Present
	length  int
	slots   []*oldSlot
	holders map[string]int
	stays   map[string]bool
	names   *pageNames
	moves   []oldMove
}

func newOldSequence(present Present, pages []Page, length int) *oldSequence {
	s := &oldSequence{
		present: present, length: length, holders: map[string]int{}, stays: map[string]bool{}, names: present.unusedNames(),
	}
	kept := map[string]bool{}

	for _, page := range pages {
		kept[page.Name], s.names.used[page.Name] = true, true
		target := set(page.Clusters)
		maps.Copy(s.stays, target)
		s.add(&oldSlot{
			name: page.Name, group: page.Group, current: page.Current, target: target,
		})
	}

	for _, page := range present.Pages {
		if !kept[page.Name] {
			s.add(&oldSlot{name: page.Name, group: present.groupOf(page), current: page, goes: true})
		}
	}

	slices.SortStableFunc(s.slots, func(a, b *oldSlot) int {
		return cmp.Or(cmp.Compare(a.group.Index, b.group.Index), cmp.Compare(a.number, b.number))
	})

	return s
}

func (s *oldSequence) add(added *oldSlot) {
	added.number = s.present.number(added.name)
	added.holds = map[string]bool{}

	if added.current != nil {
		added.holds = set(added.current.Clusters())
	}

	for cluster := range added.holds {
		s.holders[cluster]++
	}

	s.slots = append(s.slots, added)
}

func set(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}

	return set
}

// run finds the moves.
func (s *oldSequence) run() []oldMove {
	for {
		open := slices.DeleteFunc(slices.Clone(s.slots), (*oldSlot).settled)
		if len(open) == 0 {
			return s.moves
		}

		ready := func(gaining bool) func(*oldSlot) bool {
			return func(p *oldSlot) bool { return p.gains() == gaining && len(s.missing(p)) == 0 && s.fits(p) }
		}

		if i := slices.IndexFunc(open, ready(true)); i >= 0 {
			s.write(open[i], open[i].target)
		} else if i := slices.IndexFunc(open, ready(false)); i >= 0 {
			s.write(open[i], open[i].target)
		} else {
			s.park(open)
		}
	}
}

func (s *oldSequence) write(p *oldSlot, holds map[string]bool) {
	for cluster := range p.holds {
		s.holders[cluster]--
	}

	for cluster := range holds {
		s.holders[cluster]++
	}

	p.holds = holds
	s.moves = append(s.moves, oldMove{oldSlot: p, holds: holds})

	if p.current == nil {
		p.current = &record.Page{}
	}
}

// missing are the clusters that stay and would stand nowhere if the page were written now, sorted.
func (s *oldSequence) missing(p *oldSlot) []string {
	var missing []string

	for cluster := range p.holds {
		if !p.target[cluster] && s.stays[cluster] && s.holders[cluster] < 2 {
			missing = append(missing, cluster)
		}
	}

	slices.Sort(missing)

	return missing
}

// fits reports whether the group of the page does not grow beyond its length by the write. Pages that go are on their way out and do not
// count.
func (s *oldSequence) fits(p *oldSlot) bool {
	before, after := map[string]bool{}, maps.Clone(p.target)

	for _, other := range s.slots {
		if other.group != p.group || other.goes {
			continue
		}

		maps.Copy(before, other.holds)

		if other != p {
			maps.Copy(after, other.holds)
		}
	}

	return len(after) <= max(s.length, len(before))
}

// park lets the clusters for which the first blocked page waits stand in a page of their own, behind the last group. Among pages that hold
// no more than they may there is such a page: as long as every open page may be written, one of them makes its group no longer than it
// was or may be.
func (s *oldSequence) park(open []*oldSlot) {
	for _, p := range open {
		missing := s.missing(p)
		if len(missing) == 0 {
			continue
		}

		name := s.destination(missing[0])
		missing = slices.DeleteFunc(missing, func(cluster string) bool { return s.destination(cluster) != name })
		missing = missing[:min(len(missing), PageSize, s.length)]

		parked := s.spare(name)
		if parked == nil {
			index := 0
			for _, other := range s.slots {
				index = max(index, other.group.Index+1)
			}

			parked = &oldSlot{group: record.Group{Index: index, Name: name}}
			parked.name = s.names.next(parked.group)
			s.add(parked)
		}

		s.write(parked, set(missing))
		parked.goes = true

		return
	}

	// Nothing waits for anything, but there is no room: somebody's pages hold more than pages may. A group grows for a moment.
	s.write(open[0], open[0].target)
}

// spare is an empty page behind the last group that goes: one that was made to park clusters, by a plan that was cut off before it could
// be filled. Where filling fails again and again, the next try must not make another one.
func (s *oldSequence) spare(name string) *oldSlot {
	last := 0

	for _, p := range s.slots {
		if !p.goes {
			last = max(last, p.group.Index)
		}
	}

	i := slices.IndexFunc(s.slots, func(p *oldSlot) bool {
		return p.goes && len(p.holds) == 0 && p.group.Index > last && p.group.Name == name
	})
	if i < 0 {
		return nil
	}

	return s.slots[i]
}

// destination is the name of the group that a cluster goes to.
func (s *oldSequence) destination(cluster string) string {
	i := slices.IndexFunc(s.slots, func(p *oldSlot) bool { return p.target[cluster] })

	return s.slots[i].group.Name
}

// deletes are the slots that go, in a safe order: first those that share their index with a group that stays, because consumers see one
// of the two, and then from the highest group index down.
func (s *oldSequence) deletes() []*oldSlot {
	stays := map[int]bool{}
	deletes := []*oldSlot{}

	for _, p := range s.slots {
		if p.goes {
			deletes = append(deletes, p)
		} else {
			stays[p.group.Index] = true
		}
	}

	slices.SortStableFunc(deletes, func(a, b *oldSlot) int {
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
