// SPDX-License-Identifier: Apache-2.0

package inventory

import "slices"

// SetDecision adds or updates a PlacementDecision. It changes only the counts of decisions, and affects no placement.
func (i *Inventory) SetDecision(after Page) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if before := i.decisions.pages[after.Key]; before != nil && before.owner == after.Owner && i.sameClusters(before.ids, after.Clusters) {
		return
	}
	i.replacePage(after.Key, i.newPage(after))
}

// newPage makes a page and acquires the ids of its clusters; releasePage releases them.
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

// DeleteDecision removes a PlacementDecision.
func (i *Inventory) DeleteDecision(key DecisionKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.decisions.pages[key] != nil {
		i.replacePage(key, nil)
	}
}

// replacePage replaces a page; either page may be nil. newPage has acquired the ids of the new page before those of the old one are
// released, so that clusters in both keep their ids.
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
