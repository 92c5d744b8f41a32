// SPDX-License-Identifier: Apache-2.0

package inventory

// Assume replaces the decisions of a placement in the counts with these clusters, whatever its pages contain, until ForgetAssumed or the
// next Assume. The caller assumes a result before it writes the pages, so that evaluations which read the decisions of others see it at
// once (docs/spec/differences.md B9). A cluster that is listed twice counts twice.
func (i *Inventory) Assume(owner Key, clusters []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	d, before := i.decisions, i.decisions.assumed[owner]
	after := i.newPage(Page{Owner: owner, Clusters: clusters})
	d.assumed[owner] = after
	d.setCounted(owner, []*page{after})
	if before != nil {
		i.releasePage(before)
	}
	i.changed(decisionsOnly)
}

// Assumed reports whether the counts contain an assumed result of the placement.
func (i *Inventory) Assumed(owner Key) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.decisions.assumed[owner] != nil
}

// ForgetAssumed counts the pages of a placement again instead of its assumed result. It does nothing if no result is assumed.
func (i *Inventory) ForgetAssumed(owner Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.decisions

	before := d.assumed[owner]
	if before == nil {
		return
	}
	delete(d.assumed, owner)
	d.setCounted(owner, d.byOwner[owner])
	i.releasePage(before)
	i.changed(decisionsOnly)
}
