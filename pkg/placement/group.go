// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// desiredGroup is a desired decision group.
type desiredGroup struct {
	// Group is its index, which counts from 0 without gaps, and the name of its partition. Several groups may have the same name.
	api.Group

	// clusters are the members in the order of the partition.
	clusters []int32
	// pages are the existing pages of the group, in the order of their numbers; or else a page at its index that becomes its first page.
	pages []*existingPage
}

// groups cuts every partition into groups of at most so many members, and gives every group its index: first all groups of the first
// partition, then those of the second, and so on (docs/spec/differences.md B8). A partition without clusters makes no group; when nothing
// is desired there is one empty group without a name.
//
// Where nothing exists yet, members follow the order of the partition. From then on a group that exists keeps its index while that is one
// of its partition's, and otherwise moves as a whole to an index of its partition that has no group of it. A partition that has more groups
// than it needs gives up the highest of those that would have to move.
//
// An index that a page in deletion keeps for another name is passed over. It gets an empty group of that name, because consumers expect
// one name at each index and no gap (docs/spec/differences.md B5), until the page is gone.
func (p *pageIndex) groups(partitions []partition, length int) []desiredGroup {
	groups := p.emptyGroups(partitions, length)
	movers := p.movers(groups)
	left := groups
	for _, partition := range partitions {
		needed := divideUp(len(partition.clusters), length)
		p.fill(left[:needed], partition, length, movers)
		left = left[needed:]
	}

	if len(groups) == 0 {
		groups = []desiredGroup{{Group: api.Group{Index: p.next(0, "")}}}
	}
	groups = p.withPlaceholders(groups)
	for i := range groups {
		groups[i].pages = p.pagesOf(groups[i].Group)
	}
	return groups
}

// fill divides the clusters of a partition among its groups.
func (p *pageIndex) fill(groups []desiredGroup, partition partition, length int, movers map[string][]*existingGroup) {
	if len(groups) == 1 && movers == nil {
		groups[0].clusters = partition.clusters
		return
	}
	containers := p.members(groups, partition, movers)
	for i, clusters := range p.allot(partition.clusters, containers, length) {
		groups[i].clusters = clusters
	}
}

func divideUp(n, by int) int { return (n + by - 1) / by }

// emptyGroups returns the groups that the partitions need, without clusters, at increasing indices.
func (p *pageIndex) emptyGroups(partitions []partition, length int) []desiredGroup {
	needed := 0
	for _, partition := range partitions {
		needed += divideUp(len(partition.clusters), length)
	}
	groups := make([]desiredGroup, 0, needed)
	index := 0

	for _, partition := range partitions {
		for range divideUp(len(partition.clusters), length) {
			index = p.next(index, partition.name)
			groups = append(groups, desiredGroup{Group: api.Group{Index: index, Name: partition.name}})
			index++
		}
	}
	return groups
}

// next returns the first index from index on that can have a group with the name.
func (p *pageIndex) next(index int, name string) int {
	for p.groupIndex(index).blocks(name) {
		index++
	}
	return index
}

// movers returns, by name, the existing groups whose index does not belong to their partition, in the order of the indices. The groups are
// sorted by index.
func (p *pageIndex) movers(groups []desiredGroup) map[string][]*existingGroup {
	var movers map[string][]*existingGroup
	for i := range p.groupIndices {
		at := &p.groupIndices[i]
		for len(groups) > 0 && groups[0].Index < at.index {
			groups = groups[1:]
		}

		for n := range at.groups {
			group := &at.groups[n]
			if len(groups) > 0 && groups[0].Group == group.Group {
				continue
			}
			if movers == nil {
				movers = map[string][]*existingGroup{}
			}
			movers[group.Name] = append(movers[group.Name], group)
		}
	}

	return movers
}

// members returns the existing clusters of each group of a partition: its own, or those of a group that moves there.
func (p *pageIndex) members(groups []desiredGroup, partition partition, movers map[string][]*existingGroup) [][]int32 {
	members := make([][]int32, len(groups))
	for i := range groups {
		if own := p.groupIndex(groups[i].Index).group(groups[i].Name); own != nil {
			members[i] = own.clusters
		}
	}
	if len(movers[partition.name]) == 0 {
		return members
	}

	for _, id := range partition.clusters {
		p.scratch[id] = 1
	}
	defer clear(p.scratch)
	empty := func(clusters []int32) bool {
		return !slices.ContainsFunc(clusters, func(id int32) bool { return p.scratch[id] > 0 })
	}

	for i := range groups {
		if !empty(members[i]) {
			continue
		}
		for left := movers[partition.name]; len(left) > 0; left = movers[partition.name] {
			movers[partition.name] = left[1:]
			if !empty(left[0].clusters) {
				members[i] = left[0].clusters
				break
			}
		}
	}

	return members
}

// withPlaceholders adds empty groups at the skipped indices, and at those below a terminating page, which would leave a gap.
func (p *pageIndex) withPlaceholders(groups []desiredGroup) []desiredGroup {
	end := groups[len(groups)-1].Index + 1
	for i := range p.groupIndices {
		if len(p.groupIndices[i].deleting) > 0 {
			end = max(end, p.groupIndices[i].index)
		}
	}
	if len(groups) == end {
		return groups
	}

	taken := make(map[int]bool, len(groups))
	for i := range groups {
		taken[groups[i].Index] = true
	}
	for i := range p.groupIndices {
		at := &p.groupIndices[i]
		if at.index >= 0 && at.index < end && !taken[at.index] {
			groups = append(groups, desiredGroup{Group: api.Group{Index: at.index, Name: at.name()}})
		}
	}

	slices.SortFunc(groups, func(a, b desiredGroup) int { return cmp.Compare(a.Index, b.Index) })
	return groups
}

// allot gives every member a place in a container, so that as few as possible move. Containers hold at most size members. Those in
// excess of what the members need are given up from the last one; what they held, what is over the size, and what is new takes free
// places, in the order of the members, the first container first. The result has the members of the containers that stay and then
// those of new ones, each in the order of the members.
func (p *pageIndex) allot(members []int32, containers [][]int32, size int) [][]int32 {
	needed := divideUp(len(members), size)
	switch needed {
	case 0:
		return nil
	case 1:
		return [][]int32{members}
	}
	const unplaced = -1

	places, counts := p.scratch, make([]int, needed)
	for _, id := range members {
		places[id] = unplaced
	}

	for i, holds := range containers[:min(needed, len(containers))] {
		if len(holds) > size { // Of too many, the first by name stay.
			holds = slices.Sorted(slices.Values(holds))
		}
		for _, id := range holds {
			if places[id] == unplaced && counts[i] < size {
				places[id] = int32(i + 1)
				counts[i]++
			}
		}
	}

	free := 0 // All below are full.
	for _, id := range members {
		if places[id] != unplaced {
			continue
		}
		for counts[free] >= size {
			free++
		}
		places[id] = int32(free + 1)
		counts[free]++
	}

	allotted, memory := make([][]int32, needed), make([]int32, len(members))
	for i, count := range counts {
		allotted[i], memory = memory[:0:count], memory[count:]
	}
	for _, id := range members {
		at := places[id] - 1
		allotted[at] = append(allotted[at], id)
		places[id] = 0
	}
	return allotted
}
