// SPDX-License-Identifier: Apache-2.0

package removalbudget

import "slices"

// comparison compares the previous clusters with those that a scheduling.Result selects.
type comparison struct {
	wanted *int32
	// countReplaced reports whether a replaced cluster counts as removed.
	countReplaced bool
	// previous is the number of previous clusters, and selected the number of selected clusters.
	previous, selected int
	// infeasible and outranked are the numbers of previous clusters that are not selected because they are not feasible, or because others
	// are better; gained is the number of selected clusters that are not among the previous ones. others is the number of infeasible
	// clusters without names.
	infeasible, outranked, gained, others int
	// held is the number of clusters that the percentage referred to when a removal was held, so that clusters that join meanwhile do not
	// release it; 0 means that none is held.
	held int
}

// percentageBase returns the number of clusters that the percentage refers to.
func (c comparison) percentageBase() int {
	if c.held > 0 {
		return min(c.base(), c.held)
	}
	return c.base()
}

// base returns the number of clusters of which others are removed.
func (c comparison) base() int {
	if c.wanted != nil {
		return min(c.previous, int(*c.wanted)) // On the way from one cluster to another both are there.
	}
	return c.previous
}

// removed returns the number of removed clusters, without replaced clusters unless they count.
func (c comparison) removed() int {
	switch {
	case c.countReplaced:
		return min(c.infeasible+c.outranked, c.base())
	case c.wanted != nil:
		return min(max(0, c.base()-c.selected), c.infeasible+c.outranked)
	default:
		return c.infeasible + max(0, c.outranked-c.gained)
	}
}

// past returns the number of removed clusters that have left before; leaving are those that leave now.
func (c comparison) past(leaving []string) int {
	return max(0, min(c.removed(), c.percentageBase())-len(leaving))
}

// hold returns a hold without clusters of what is compared.
func (c comparison) hold(generation int64, leaving []string) hold {
	past := c.past(leaving)
	return hold{Generation: generation, Lost: len(leaving), Of: max(c.percentageBase()-past, len(leaving)), Past: past}
}

// exceeds reports whether more than the percentage is removed. Where replaced clusters count, all that leave do, also those that are more than
// the percentage refers to.
func (c comparison) exceeds(percent int) bool {
	count := Count{Now: c.removed(), Total: c.percentageBase()}
	if c.countReplaced {
		count.Now = c.infeasible + c.outranked
	}
	return count.Exceeds(percent)
}

// losses are the previous clusters that are not selected, sorted by name.
type losses struct {
	infeasible, outranked []string
}

// countRemovals compares the past clusters of a check, and those without names, with its scheduling.Result.
func (b Budget) countRemovals(of *check) (comparison, losses) {
	result, past, others := of.result, of.past, of.left.countOthers()
	c := comparison{
		wanted: result.Request.Wanted, countReplaced: b.CountReplaced, previous: len(past) + others, selected: len(result.Selected),
		infeasible: others, others: others, held: b.heldBase(),
	}
	if c.held > 0 {
		c.held += of.lostJoined
	}
	var lost losses
	kept := make(map[string]bool, len(past))

	for _, info := range result.Selected {
		if past[info.Name] {
			kept[info.Name] = true
		} else {
			c.gained++
		}
	}
	if len(kept) == len(past) {
		return c, lost
	}

	bySpec := of.leavingBySpec()
	for cluster := range past {
		switch {
		case kept[cluster], bySpec[cluster]:
		case Drains(result.Cluster(cluster)):
			c.previous--
		case result.IsFeasible(cluster):
			lost.outranked = append(lost.outranked, cluster)
		default:
			lost.infeasible = append(lost.infeasible, cluster)
		}
	}

	slices.Sort(lost.infeasible)
	slices.Sort(lost.outranked)
	c.infeasible += len(lost.infeasible)
	c.outranked = len(lost.outranked)
	return c, lost
}

// removed returns those of the losses that count and are not replaced, sorted by name. If only some of them are replaced, those that left
// first are dropped first, and then those that are still feasible.
func (l losses) removed(c comparison, left RecentRemovals, incumbents map[string]bool) []string {
	var (
		certain, replaceable []string
		counts               int
	)

	switch {
	case c.countReplaced:
		certain = slices.Concat(l.infeasible, l.outranked)
	case c.wanted != nil:
		replaceable = slices.Concat(l.outranked, l.infeasible)
		counts = c.removed() // Others may be among them, and be forgotten before one of these would be.
	default:
		certain, replaceable = l.infeasible, l.outranked
		counts = c.removed() - c.infeasible
	}

	slices.SortStableFunc(replaceable, func(a, b string) int { return left.Clusters[a].Compare(left.Clusters[b]) })

	// The clusters that leave now are the last ones, also within the second in which others left.
	earlier, now := []string{}, []string{}
	for _, cluster := range replaceable {
		if incumbents[cluster] {
			now = append(now, cluster)
		} else {
			earlier = append(earlier, cluster)
		}
	}
	replaceable = slices.Concat(earlier, now)

	removed := slices.Concat(certain, replaceable[len(replaceable)-min(counts, len(replaceable)):])
	slices.Sort(removed)
	return removed
}
