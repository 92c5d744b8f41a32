package inventory

// Assume has a placement counted as if its decisions held exactly these clusters, whatever its pages say, until ForgetAssumed or the next
// Assume. A result is assumed before it is written, so that evaluations which read the decisions of others see it at once
// (docs/spec/differences.md B9); a cluster that is named twice counts twice.
func (i *Inventory) Assume(owner PlacementKey, clusters []string) {
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

// Assumed reports whether a result of the placement is assumed.
func (i *Inventory) Assumed(owner PlacementKey) bool {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.decisions.assumed[owner] != nil
}

// ForgetAssumed has the pages of a placement counted again. It does nothing where no result is assumed.
func (i *Inventory) ForgetAssumed(owner PlacementKey) {
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
