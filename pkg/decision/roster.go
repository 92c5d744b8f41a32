package decision

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// roster counts who stands where while pages are written one after the other, so that a write costs as much as it changes. Clusters have
// ids that count from 0.
type roster struct {
	// cluster are the names by id.
	cluster []string
	// holders is in how many pages each cluster stands, and to is the first slot that it is to stand in; -1 for none.
	holders, to []int32
	// losers and takers are the slots to be written that give a cluster away, and that get it.
	losers, takers [][]*slot
	// members is in how many of a group's pages that stay each cluster stands.
	members map[member]int32
}

// membership is one group of pages that stay.
type membership struct {
	id int32
	// size is how many clusters stand in it, and open are its slots that are to be written.
	size int
	open []*slot
}

type member struct{ group, cluster int32 }

// newRoster gives ids to the clusters and tells the slots what they hold, and what not yet.
func newRoster(slots []*slot) roster {
	var r roster

	known := map[string]int32{}
	id := func(name string) int32 {
		i, is := known[name]
		if !is {
			i = int32(len(r.cluster))
			known[name], r.cluster = i, append(r.cluster, name)
		}

		return i
	}

	for _, p := range slots {
		if p.current != nil {
			p.holds = make([]int32, 0, len(p.current.Decisions))
			for _, d := range p.current.Decisions {
				p.holds = append(p.holds, id(d.Cluster))
			}
		}

		if p.page != nil {
			p.target = make([]int32, 0, len(p.page.Clusters))
			for _, name := range p.page.Clusters {
				p.target = append(p.target, id(name))
			}
		}

		p.holds, p.target = sorted(p.holds), sorted(p.target)
		if !p.goes || p.makesRoom {
			p.lost, p.gained = without(p.holds, p.target), without(p.target, p.holds)
		}
	}

	r.holders, r.to = make([]int32, len(r.cluster)), slices.Repeat([]int32{-1}, len(r.cluster))
	r.losers, r.takers = make([][]*slot, len(r.cluster)), make([][]*slot, len(r.cluster))
	r.members = map[member]int32{}

	return r
}

// sorted makes a set of ids.
func sorted(ids []int32) []int32 {
	slices.Sort(ids)

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

// watch counts who stands where, and what every open slot waits for.
func (r *roster) watch(slots []*slot) {
	groups := map[record.Group]*membership{}

	for at, p := range slots {
		for _, cluster := range p.target {
			if r.to[cluster] < 0 {
				r.to[cluster] = int32(at)
			}
		}

		for _, cluster := range p.holds {
			r.holders[cluster]++
		}

		if p.goes {
			continue
		}

		if p.within = groups[p.group]; p.within == nil {
			p.within = &membership{id: int32(len(groups))}
			groups[p.group] = p.within
		}

		if p.open {
			p.within.open = append(p.within.open, p)
		}
	}

	for _, p := range slots {
		if !p.goes && len(p.within.open) > 0 {
			r.join(p)
		}
	}

	for _, p := range slots {
		if p.open {
			r.measure(p)
		}
	}
}

// join counts the clusters of a page that stays as members of its group.
func (r *roster) join(p *slot) {
	for _, cluster := range p.holds {
		key := member{p.within.id, cluster}

		r.members[key]++
		if r.members[key] == 1 {
			p.within.size++
		}
	}
}

// measure says what keeps an open slot from being written.
func (r *roster) measure(p *slot) {
	for _, cluster := range p.lost {
		r.losers[cluster] = append(r.losers[cluster], p)

		if r.stays(cluster) && r.holders[cluster] == 1 {
			p.lacks++
		}

		if p.goes {
			continue
		}

		if r.members[member{p.within.id, cluster}] == 1 {
			p.grows--
		}
	}

	for _, cluster := range p.gained {
		r.takers[cluster] = append(r.takers[cluster], p)

		if r.members[member{p.within.id, cluster}] == 0 {
			p.grows++
		}
	}
}

func (r *roster) stays(cluster int32) bool { return r.to[cluster] >= 0 }

func (r *roster) clusters(ids []int32) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, r.cluster[id])
	}

	return names
}

// enter counts a cluster that has come into a page.
func (r *roster) enter(p *slot, cluster int32) {
	r.holders[cluster]++
	if r.holders[cluster] == 2 && r.stays(cluster) {
		for _, other := range r.losers[cluster] {
			other.lacks--
		}
	}

	if p.goes {
		return
	}

	key := member{p.within.id, cluster}
	r.members[key]++

	switch r.members[key] {
	case 1:
		p.within.size++

		grow(r.takers[cluster], p.within, -1)
	case 2:
		grow(r.losers[cluster], p.within, 1)
	}
}

// leave counts a cluster that has left a page.
func (r *roster) leave(p *slot, cluster int32) {
	r.holders[cluster]--
	if r.holders[cluster] == 1 && r.stays(cluster) {
		for _, other := range r.losers[cluster] {
			other.lacks++
		}
	}

	if p.goes {
		return
	}

	key := member{p.within.id, cluster}
	r.members[key]--

	switch r.members[key] {
	case 0:
		p.within.size--

		grow(r.takers[cluster], p.within, 1)
	case 1:
		grow(r.losers[cluster], p.within, -1)
	}
}

// grow says by how much more or less a group grows by the write of its slots.
func grow(slots []*slot, within *membership, by int) {
	for _, p := range slots {
		if p.within == within {
			p.grows += by
		}
	}
}

// queue has the places of slots in their order. They nearly always come in order too.
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
