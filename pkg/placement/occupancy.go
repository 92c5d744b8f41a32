// SPDX-License-Identifier: Apache-2.0

package placement

// occupancy counts on which pages clusters are while the pages are written one after the other. It follows only clusters that some page
// loses or gains, so that a write costs as much as it changes.
type occupancy struct {
	occupants []occupant
	// followed has by id the index of a cluster among the occupants, from 1; 0 for a cluster that is not followed.
	followed []int32
	// members has the number of remaining pages of a group that have an occupant.
	members map[member]int32
}

// occupant is a cluster that some page loses or gains.
type occupant struct {
	id int32
	// pages is the number of pages that have the cluster.
	pages int
	// to is the first page that is to have the cluster; nil for none.
	to *pageState
	// giving and gaining are the pages, not yet written, that lose or gain the cluster.
	giving, gaining []*pageState
}

// membership is a group with its remaining pages.
type membership struct {
	id int32
	// size is the number of its clusters, and open are its pages that are not written yet.
	size int
	open []*pageState
}

type member struct{ group, cluster int32 }

func (o *occupant) stays() bool { return o.to != nil }

// newOccupancy follows the clusters that the pages lose and gain.
func newOccupancy(pages *pageIndex, states []*pageState) occupancy {
	o := occupancy{followed: make([]int32, pages.ids())}
	for _, p := range states {
		o.follow(p.lost)
		o.follow(p.gained)
		if p.surplus { // The cluster may be in another page already.
			o.follow(p.holds)
		}
	}

	for _, p := range states {
		for _, id := range p.target {
			if occupant := o.occupant(id); occupant != nil && occupant.to == nil {
				occupant.to = p
			}
		}
		for _, id := range p.holds {
			if occupant := o.occupant(id); occupant != nil {
				occupant.pages++
			}
		}
	}

	return o
}

func (o *occupancy) follow(ids []int32) {
	for _, id := range ids {
		if o.followed[id] == 0 {
			o.occupants = append(o.occupants, occupant{id: id})
			o.followed[id] = int32(len(o.occupants))
		}
	}
}

// occupant returns a cluster that is followed; nil for others.
func (o *occupancy) occupant(id int32) *occupant {
	at := o.followed[id]
	if at == 0 {
		return nil
	}
	return &o.occupants[at-1]
}

// watch counts the members of groups, and the clusters that every open page waits for.
func (o *occupancy) watch(states []*pageState) {
	o.members = map[member]int32{}
	var (
		within *membership
		before *pageState
		groups int32
	)

	for _, p := range states {
		if p.surplus {
			continue
		}
		if before == nil || before.group != p.group { // The states are sorted by group.
			within = &membership{id: groups}
			groups++
		}
		p.within, before = within, p

		if p.open {
			within.open = append(within.open, p)
		}
	}

	for _, p := range states {
		if !p.surplus && len(p.within.open) > 0 {
			o.join(p)
		}
	}
	for _, p := range states {
		if p.open {
			o.measure(p)
		}
	}
}

// join counts the clusters of a remaining page as members of its group. A cluster that is not followed is on no other page of the group.
func (o *occupancy) join(p *pageState) {
	for _, id := range p.holds {
		if o.followed[id] == 0 {
			p.within.size++
			continue
		}
		key := member{p.within.id, id}
		o.members[key]++
		if o.members[key] == 1 {
			p.within.size++
		}
	}
}

// measure computes lacks and grows of an open page, and adds it to the clusters that it loses and gains.
func (o *occupancy) measure(p *pageState) {
	for _, id := range p.lost {
		cluster := o.occupant(id)
		cluster.giving = append(cluster.giving, p)
		if cluster.stays() && cluster.pages == 1 {
			p.lacks++
		}
		if p.surplus {
			continue
		}

		if o.members[member{p.within.id, id}] == 1 {
			p.grows--
		}
	}

	for _, id := range p.gained {
		cluster := o.occupant(id)
		cluster.gaining = append(cluster.gaining, p)
		if o.members[member{p.within.id, id}] == 0 {
			p.grows++
		}
	}
}

// enter adds a cluster to a page.
func (o *occupancy) enter(p *pageState, id int32) {
	cluster := o.occupant(id)

	cluster.pages++
	if cluster.pages == 2 && cluster.stays() {
		for _, other := range cluster.giving {
			other.lacks--
		}
	}
	if p.surplus {
		return
	}

	key := member{p.within.id, id}
	o.members[key]++
	switch o.members[key] {
	case 1:
		p.within.size++
		grow(cluster.gaining, p.within, -1)
	case 2:
		grow(cluster.giving, p.within, 1)
	}
}

// leave removes a cluster from a page.
func (o *occupancy) leave(p *pageState, id int32) {
	cluster := o.occupant(id)

	cluster.pages--
	if cluster.pages == 1 && cluster.stays() {
		for _, other := range cluster.giving {
			other.lacks++
		}
	}
	if p.surplus {
		return
	}

	key := member{p.within.id, id}
	o.members[key]--
	switch o.members[key] {
	case 0:
		p.within.size--
		grow(cluster.gaining, p.within, 1)
	case 1:
		grow(cluster.giving, p.within, -1)
	}
}

// grow changes by how much a group grows by the write of each of its pages.
func grow(states []*pageState, within *membership, by int) {
	for _, p := range states {
		if p.within == within {
			p.grows += by
		}
	}
}
