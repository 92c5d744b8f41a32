package inventory

import (
	"cmp"
	"slices"
)

// Page is what counts of a PlacementDecision: whose it is, and the clusters in it.
type Page struct {
	Key      DecisionKey
	Owner    PlacementKey
	Clusters []string
}

// page is a Page with the clusters by their numbers. It must not be changed once made.
type page struct {
	key   DecisionKey
	owner PlacementKey
	slots []uint32
}

// decisions are all pages, and the counts that Balance reads.
type decisions struct {
	pages map[DecisionKey]*page
	// byOwner are the pages of a placement, in the order of their names.
	byOwner *table[[]*page]
	// totals count by cluster in how many decisions it stands, and frequencies by total how many clusters have it. Highest is the greatest
	// total there is.
	totals, frequencies vector[int32]
	highest             int32
}

func newDecisions() *decisions {
	return &decisions{pages: map[DecisionKey]*page{}, byOwner: newTable[[]*page]()}
}

// ownerName sorts placements by namespace, so that those of one namespace can be walked over.
func ownerName(key PlacementKey) string {
	return ownersIn(key.Namespace) + string(key.API) + "\x00" + key.Name
}

func ownersIn(namespace string) string { return namespace + "\x00" }

// SetDecision takes in a new state of a PlacementDecision. Only the counts of decisions move with it.
func (i *Inventory) SetDecision(after Page) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if before := i.decisions.pages[after.Key]; before != nil && before.owner == after.Owner && i.sameClusters(before.slots, after.Clusters) {
		return
	}

	taken := &page{key: after.Key, owner: after.Owner, slots: make([]uint32, 0, len(after.Clusters))}
	for _, cluster := range after.Clusters {
		taken.slots = append(taken.slots, uint32(i.slots.hold(cluster)))
	}

	i.replacePage(after.Key, taken)
}

func (i *Inventory) sameClusters(slots []uint32, clusters []string) bool {
	return slices.EqualFunc(slots, clusters, func(slot uint32, cluster string) bool { return i.slots.names.get(uint(slot)) == cluster })
}

// DeleteDecision takes in that a PlacementDecision is gone.
func (i *Inventory) DeleteDecision(key DecisionKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.decisions.pages[key] != nil {
		i.replacePage(key, nil)
	}
}

func (i *Inventory) replacePage(key DecisionKey, after *page) {
	d := i.decisions

	// The clusters of the new state are held before those of the old one are released, so that their numbers stay.
	if after != nil {
		d.count(after, 1)
	}

	if before := d.pages[key]; before != nil {
		d.count(before, -1)
		d.unlist(before)
		delete(d.pages, key)

		for _, slot := range before.slots {
			i.slots.release(uint(slot))
		}
	}

	if after != nil {
		d.pages[key] = after
		d.list(after)
	}

	i.changed(decisionsOnly)
}

func (d *decisions) list(added *page) {
	name := ownerName(added.owner)
	pages := append(slices.Clone(d.byOwner.live[name]), added) // Snapshots share the old list.
	slices.SortFunc(pages, func(a, b *page) int { return cmp.Compare(a.key.Name, b.key.Name) })
	d.byOwner.set(name, pages)
}

func (d *decisions) unlist(gone *page) {
	name := ownerName(gone.owner)
	pages := slices.DeleteFunc(slices.Clone(d.byOwner.live[name]), func(p *page) bool { return p == gone })

	if len(pages) == 0 {
		d.byOwner.remove(name)
	} else {
		d.byOwner.set(name, pages)
	}
}

func (d *decisions) count(p *page, step int32) {
	for _, slot := range p.slots {
		before := d.totals.get(uint(slot))
		after := before + step
		d.totals.set(uint(slot), after)
		d.frequencies.set(uint(before), d.frequencies.get(uint(before))-1)
		d.frequencies.set(uint(after), d.frequencies.get(uint(after))+1)
		d.highest = max(d.highest, after)
	}

	for d.highest > 0 && d.frequencies.get(uint(d.highest)) == 0 {
		d.highest--
	}
}

// holds reports whether a cluster stands in decisions of a placement.
func (d *decisions) holds(owner PlacementKey, slot uint) bool {
	return slices.ContainsFunc(d.byOwner.live[ownerName(owner)], func(p *page) bool { return slices.Contains(p.slots, uint32(slot)) })
}

// recount finds the counts anew.
func (d *decisions) recount() {
	d.totals, d.frequencies, d.highest = vector[int32]{}, vector[int32]{}, 0

	for _, p := range d.pages {
		d.count(p, 1)
	}
}
