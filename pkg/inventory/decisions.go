// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"slices"
)

// Page is the content of a PlacementDecision that counts: its owner, and the names of its clusters.
type Page struct {
	Key      DecisionKey
	Owner    Key
	Clusters []string
}

// page is a Page with the ids of the clusters. It is immutable.
type page struct {
	key   DecisionKey
	owner Key
	ids   []uint32
}

// decisions has all pages, and the counts per cluster that the prioritizers read.
type decisions struct {
	pages map[DecisionKey]*page
	// byOwner has the pages of each placement, and assumed a page with all clusters of a result that is about to be written (see Assume).
	byOwner map[Key][]*page
	assumed map[Key]*page
	// counted has the pages of each placement that count: the assumed one, or the written ones sorted by name.
	counted *table[[]*page]
	// totals has the number of decisions per cluster, and frequencies the number of clusters per total. highest is the greatest total.
	totals, frequencies vector[int32]
	highest             int32
	// difference is by how much the total of each cluster changes while pages are replaced, and zero otherwise.
	difference []int32
	// generation increases with every change of counted.
	generation uint64
}

func newDecisions() *decisions {
	return &decisions{
		pages: map[DecisionKey]*page{}, byOwner: map[Key][]*page{}, assumed: map[Key]*page{}, counted: newTable[[]*page](),
	}
}

// ownerName returns a key that sorts placements by namespace, so that those of a namespace have a common prefix.
func ownerName(key Key) string {
	return ownersIn(key.Namespace) + string(key.API()) + "\x00" + key.Name
}

func ownersIn(namespace string) string { return namespace + "\x00" }

// with and without return new lists, because snapshots share the old ones.
func with(pages []*page, added *page) []*page {
	pages = append(slices.Clone(pages), added)
	slices.SortFunc(pages, func(a, b *page) int { return cmp.Compare(a.key.Name, b.key.Name) })
	return pages
}

func without(pages []*page, gone *page) []*page {
	return slices.DeleteFunc(slices.Clone(pages), func(p *page) bool { return p == gone })
}

// setPages replaces the pages of a placement, and reports whether they count, which they do unless a result is assumed.
func (d *decisions) setPages(owner Key, pages []*page) bool {
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

// setCounted replaces the pages of a placement that count, and updates the totals by the difference: most clusters of a result that is assumed are
// those of the pages before, and what a snapshot shares of the totals is copied with their first change.
func (d *decisions) setCounted(owner Key, pages []*page) {
	name := ownerName(owner)
	before := d.counted.live[name]
	added, gone := lackedBy(before, pages), lackedBy(pages, before)
	for _, p := range added {
		d.differ(p, 1)
	}
	for _, p := range gone {
		d.differ(p, -1)
	}
	d.countDifference(added)
	d.countDifference(gone)

	if len(pages) == 0 {
		d.counted.remove(name)
	} else {
		d.counted.set(name, pages)
	}
}

// lackedBy returns the pages that are not among others.
func lackedBy(others, pages []*page) []*page {
	var lacked []*page
	for _, p := range pages {
		if !slices.Contains(others, p) {
			lacked = append(lacked, p)
		}
	}
	return lacked
}

// differ adds a step to the difference of each cluster of a page.
func (d *decisions) differ(p *page, step int32) {
	for _, id := range p.ids {
		if more := int(id) + 1 - len(d.difference); more > 0 {
			d.difference = append(d.difference, make([]int32, more)...)
		}
		d.difference[id] += step
	}
}

// countDifference adds the differences of the clusters of pages to their totals.
func (d *decisions) countDifference(pages []*page) {
	for _, p := range pages {
		for _, id := range p.ids {
			if d.difference[id] != 0 {
				d.count(id, d.difference[id])
				d.difference[id] = 0
			}
		}
	}
	for d.highest > 0 && d.frequencies.get(uint(d.highest)) == 0 {
		d.highest--
	}
}

// count adds a step to the total of a cluster.
func (d *decisions) count(id uint32, step int32) {
	before := d.totals.get(uint(id))
	after := before + step
	d.totals.set(uint(id), after)
	d.frequencies.set(uint(before), d.frequencies.get(uint(before))-1)
	d.frequencies.set(uint(after), d.frequencies.get(uint(after))+1)
	d.highest = max(d.highest, after)
}

// contains reports whether the pages of a placement, or its assumed result, contain a cluster.
func (d *decisions) contains(owner Key, id uint) bool {
	stands := func(p *page) bool { return slices.Contains(p.ids, uint32(id)) }
	assumed := d.assumed[owner]
	return assumed != nil && stands(assumed) || slices.ContainsFunc(d.byOwner[owner], stands)
}

// recount computes the totals from all pages.
func (d *decisions) recount() {
	d.totals, d.frequencies, d.highest, d.difference = vector[int32]{}, vector[int32]{}, 0, nil
	for _, pages := range d.counted.live {
		for _, p := range pages {
			for _, id := range p.ids {
				d.count(id, 1)
			}
		}
	}
}
