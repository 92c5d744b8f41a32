// SPDX-License-Identifier: Apache-2.0

package inventory

import "math/bits"

// cachedVerdict is the verdict of the selector for one cluster.
type cachedVerdict struct {
	// from is the generation of the last change of the cluster in a property that the selector reads.
	from       uint64
	cost       uint32 // 0 if the verdict is not valid
	valid      bool   // false if it was not computed since then
	matched    bool
	hasDetails bool // verdictDetails are not zero
}

// celVerdicts are the verdicts of a selector by the id of the cluster. There is one for each cluster and selector, so they are kept in blocks: a
// fleet has few selectors for which the verdicts of neighbours differ in their costs, and few changes that a selector reads.
type celVerdicts struct{ blocks []verdictBlock }

// blockSize is the number of verdicts in a block.
const blockSize = 64

// verdictBlock has the verdicts of blockSize clusters.
type verdictBlock struct {
	valid, matched, hasDetails uint64
	// cost is that of each valid verdict, unless costs are set, and each verdict is from generation 0, unless froms are set.
	cost  uint32
	costs *[blockSize]uint32
	froms *[blockSize]uint64
}

// get returns the verdict for a cluster.
func (v *celVerdicts) get(id uint) cachedVerdict {
	if id/blockSize >= uint(len(v.blocks)) {
		return cachedVerdict{}
	}
	block, at := &v.blocks[id/blockSize], id%blockSize
	found := cachedVerdict{valid: isSet(block.valid, at), matched: isSet(block.matched, at), hasDetails: isSet(block.hasDetails, at)}
	if block.froms != nil {
		found.from = block.froms[at]
	}
	switch {
	case !found.valid:
	case block.costs != nil:
		found.cost = block.costs[at]
	default:
		found.cost = block.cost
	}
	return found
}

// set replaces the verdict for a cluster.
func (v *celVerdicts) set(id uint, verdict cachedVerdict) {
	for id/blockSize >= uint(len(v.blocks)) {
		v.blocks = append(v.blocks, verdictBlock{})
	}
	block, at := &v.blocks[id/blockSize], id%blockSize
	setTo(&block.valid, at, verdict.valid)
	setTo(&block.matched, at, verdict.matched)
	setTo(&block.hasDetails, at, verdict.hasDetails)
	if verdict.from != 0 && block.froms == nil {
		block.froms = &[blockSize]uint64{}
	}
	if block.froms != nil {
		block.froms[at] = verdict.from
	}
	if verdict.valid {
		block.setCost(at, verdict.cost)
	}
}

// settle sets the verdict of clusters in empty celVerdicts.
func (v *celVerdicts) settle(clusters Members, matched bool, cost uint32) {
	words := clusters.Words()
	v.blocks = make([]verdictBlock, len(words))
	for i, word := range words {
		v.blocks[i] = verdictBlock{valid: word, cost: cost}
		if matched {
			v.blocks[i].matched = word
		}
	}
}

// setCost sets the cost of a verdict, which is valid.
func (b *verdictBlock) setCost(at uint, cost uint32) {
	if b.costs == nil && b.valid&^(1<<at) == 0 {
		b.cost = cost // There is no other one.
	}
	if b.costs == nil && b.cost != cost {
		b.costs = &[blockSize]uint32{}
		for i := range b.costs {
			b.costs[i] = b.cost
		}
	}
	if b.costs != nil {
		b.costs[at] = cost
	}
}

// invalidate makes all verdicts invalid.
func (v *celVerdicts) invalidate() {
	for i := range v.blocks {
		v.blocks[i] = verdictBlock{froms: v.blocks[i].froms}
	}
}

// settled returns those of the clusters of a word, which have the ids of the block, whose verdict is valid at a generation and at any time.
func (b *verdictBlock) settled(word, generation uint64) uint64 {
	word &= b.valid &^ b.hasDetails
	if b.froms == nil {
		return word
	}
	for rest := word; rest != 0; rest &= rest - 1 {
		if at := uint(bits.TrailingZeros64(rest)); generation < b.froms[at] {
			setTo(&word, at, false)
		}
	}
	return word
}

// costOf returns the cost of the valid verdicts of a word together.
func (b *verdictBlock) costOf(word uint64) uint64 {
	if b.costs == nil {
		return uint64(bits.OnesCount64(word)) * uint64(b.cost)
	}
	cost := uint64(0)
	for ; word != 0; word &= word - 1 {
		cost += uint64(b.costs[bits.TrailingZeros64(word)])
	}
	return cost
}

func isSet(word uint64, at uint) bool { return word&(1<<at) != 0 }

func setTo(word *uint64, at uint, is bool) {
	if *word &^= 1 << at; is {
		*word |= 1 << at
	}
}
