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
	ids   []uint32
}

// decisions are all pages, and the counts that Balance reads.
type decisions struct {
	pages map[DecisionKey]*page
	// byOwner are the pages of a placement, and assumed is one with all clusters of a result that is about to be written (see Assume).
	byOwner map[PlacementKey][]*page
	assumed map[PlacementKey]*page
	// counted is what counts of a placement: what is assumed of it, or its pages in the order of their names.
	counted *table[[]*page]
	// totals count by cluster in how many decisions it stands, and frequencies by total how many clusters have it. Highest is the greatest
	// total there is.
	totals, frequencies vector[int32]
	highest             int32
	// generation numbers the states of what counts.
	generation uint64
}

func newDecisions() *decisions {
	return &decisions{
		pages: map[DecisionKey]*page{}, byOwner: map[PlacementKey][]*page{}, assumed: map[PlacementKey]*page{}, counted: newTable[[]*page](),
	}
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

	if before := i.decisions.pages[after.Key]; before != nil && before.owner == after.Owner && i.sameClusters(before.ids, after.Clusters) {
		return
	}

	i.replacePage(after.Key, i.newPage(after))
}

// newPage holds the numbers of the clusters in a page until releasePage.
func (i *Inventory) newPage(taken Page) *page {
	p := &page{key: taken.Key, owner: taken.Owner, ids: make([]uint32, 0, len(taken.Clusters))}
	for _, cluster := range taken.Clusters {
		p.ids = append(p.ids, uint32(i.ids.acquire(cluster)))
	}

	return p
}

func (i *Inventory) releasePage(p *page) {
	for _, id := range p.ids {
		i.ids.release(uint(id))
	}
}

func (i *Inventory) sameClusters(ids []uint32, clusters []string) bool {
	return slices.EqualFunc(ids, clusters, func(id uint32, cluster string) bool { return i.ids.names.get(uint(id)) == cluster })
}

// DeleteDecision takes in that a PlacementDecision is gone.
func (i *Inventory) DeleteDecision(key DecisionKey) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.decisions.pages[key] != nil {
		i.replacePage(key, nil)
	}
}

// replacePage puts one page in the place of another; either may be nil. The clusters of the new page are held before those of the old one
// are released, so that their numbers stay.
func (i *Inventory) replacePage(key DecisionKey, after *page) {
	d := i.decisions
	before := d.pages[key]
	counts := false

	if before != nil {
		delete(d.pages, key)

		counts = d.setPages(before.owner, without(d.byOwner[before.owner], before)) || counts
	}

	if after != nil {
		d.pages[key] = after
		counts = d.setPages(after.owner, with(d.byOwner[after.owner], after)) || counts
	}

	if before != nil {
		i.releasePage(before)
	}

	if counts {
		i.changed(decisionsOnly)
	}
}

// with and without make new lists: snapshots share the old ones.
func with(pages []*page, added *page) []*page {
	pages = append(slices.Clone(pages), added)
	slices.SortFunc(pages, func(a, b *page) int { return cmp.Compare(a.key.Name, b.key.Name) })

	return pages
}

func without(pages []*page, gone *page) []*page {
	return slices.DeleteFunc(slices.Clone(pages), func(p *page) bool { return p == gone })
}

// setPages replaces the pages of a placement, and reports whether they count.
func (d *decisions) setPages(owner PlacementKey, pages []*page) bool {
	if len(pages) == 0 {
		delete(d.byOwner, owner)
	} else {
		d.byOwner[owner] = pages
	}

	if d.assumed[owner] != nil {
		return false
	}

	d.setCounted(owner, pages)

	return true
}

// setCounted replaces what counts of a placement. Pages that stay are not counted again.
func (d *decisions) setCounted(owner PlacementKey, pages []*page) {
	name := ownerName(owner)
	before := d.counted.live[name]

	for _, p := range pages {
		if !slices.Contains(before, p) {
			d.count(p, 1)
		}
	}

	for _, p := range before {
		if !slices.Contains(pages, p) {
			d.count(p, -1)
		}
	}

	if len(pages) == 0 {
		d.counted.remove(name)
	} else {
		d.counted.set(name, pages)
	}
}

func (d *decisions) count(p *page, step int32) {
	for _, id := range p.ids {
		before := d.totals.get(uint(id))
		after := before + step
		d.totals.set(uint(id), after)
		d.frequencies.set(uint(before), d.frequencies.get(uint(before))-1)
		d.frequencies.set(uint(after), d.frequencies.get(uint(after))+1)
		d.highest = max(d.highest, after)
	}

	for d.highest > 0 && d.frequencies.get(uint(d.highest)) == 0 {
		d.highest--
	}
}

// contains reports whether a cluster stands in decisions of a placement, or is about to.
func (d *decisions) contains(owner PlacementKey, id uint) bool {
	stands := func(p *page) bool { return slices.Contains(p.ids, uint32(id)) }
	assumed := d.assumed[owner]

	return assumed != nil && stands(assumed) || slices.ContainsFunc(d.byOwner[owner], stands)
}

// recount finds the counts anew.
func (d *decisions) recount() {
	d.totals, d.frequencies, d.highest = vector[int32]{}, vector[int32]{}, 0

	for _, pages := range d.counted.live {
		for _, p := range pages {
			d.count(p, 1)
		}
	}
}
