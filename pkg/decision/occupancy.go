package decision

// occupancy counts in which pages clusters are while pages are written one after the other, so that a write costs as much as it changes. It
// follows only the clusters that some page loses or gains; the others stay where they are.
type occupancy struct {
	occupants []occupant
	// followed are the places of clusters among the occupants, from 1, by id; 0 for a cluster that is not followed.
	followed []int32
	// members counts in how many of a group's pages that stay an occupant is.
	members map[member]int32
}

// occupant is a cluster that some page loses or gains.
type occupant struct {
	id int32
	// pages is in how many pages the cluster is.
	pages int
	// to is the first page that the cluster is to be in; nil for none.
	to *pageState
	// giving and gaining are the pages, not yet written, that lose or gain the cluster.
	giving, gaining []*pageState
}

// membership is one group of pages that stay.
type membership struct {
	id int32
	// size is how many clusters are in it, and open are its pages that are to be written.
	size int
	open []*pageState
}

type member struct{ group, cluster int32 }

func (o *occupant) stays() bool { return o.to != nil }

// newOccupancy follows the clusters that the pages lose and gain.
func newOccupancy(e *existing, states []*pageState) occupancy {
	o := occupancy{followed: make([]int32, e.ids())}

	for _, p := range states {
		o.follow(p.lost)
		o.follow(p.gained)

		if p.goes { // The cluster may be in another page already.
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

// occupant is a cluster that is followed; nil for others.
func (o *occupancy) occupant(id int32) *occupant {
	at := o.followed[id]
	if at == 0 {
		return nil
	}

	return &o.occupants[at-1]
}

// watch counts the members of groups, and what every open page waits for.
func (o *occupancy) watch(states []*pageState) {
	o.members = map[member]int32{}

	var (
		within *membership
		before *pageState
		groups int32
	)

	for _, p := range states {
		if p.goes {
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
		if !p.goes && len(p.within.open) > 0 {
			o.join(p)
		}
	}

	for _, p := range states {
		if p.open {
			o.measure(p)
		}
	}
}

// join counts the clusters of a page that stays as members of its group. A cluster that is not followed is in no other page of the group.
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

// measure says what keeps an open page from being written.
func (o *occupancy) measure(p *pageState) {
	for _, id := range p.lost {
		cluster := o.occupant(id)
		cluster.giving = append(cluster.giving, p)

		if cluster.stays() && cluster.pages == 1 {
			p.lacks++
		}

		if p.goes {
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

// enter counts a cluster that has come into a page.
func (o *occupancy) enter(p *pageState, id int32) {
	cluster := o.occupant(id)

	cluster.pages++
	if cluster.pages == 2 && cluster.stays() {
		for _, other := range cluster.giving {
			other.lacks--
		}
	}

	if p.goes {
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

// leave counts a cluster that has left a page.
func (o *occupancy) leave(p *pageState, id int32) {
	cluster := o.occupant(id)

	cluster.pages--
	if cluster.pages == 1 && cluster.stays() {
		for _, other := range cluster.giving {
			other.lacks++
		}
	}

	if p.goes {
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

// grow says by how much more or less a group grows by the write of its pages.
func grow(states []*pageState, within *membership, by int) {
	for _, p := range states {
		if p.within == within {
			p.grows += by
		}
	}
}
