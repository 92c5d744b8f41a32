package decision

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// Group is one decision group.
type Group struct {
	// Group is its index, which counts from 0 without gaps, and the name of the portion it is a piece of. Several groups may carry one
	// name.
	record.Group

	// Clusters are the members in the order of the answer.
	Clusters []string

	// pages are those that exist for the group already, in the order of their numbers; or else one at its index that becomes the first
	// one of the group.
	pages []*record.Page
}

// allot gives every member a place in a container, so that as few as possible move. Containers hold at most size members. Those in
// excess of what the members need are given up from the last one; what they held, what is over the size, and what is new takes free
// places, in the order of the members, the first container first. The answer has the members of the containers that stay and then
// those of new ones, each in the order of the members.
func allot(members []string, containers [][]string, size int) [][]string {
	if len(members) == 0 {
		return nil
	}

	needed := (len(members) + size - 1) / size
	counts := make([]int, needed)
	place := make(map[string]int, len(members))

	for _, member := range members {
		place[member] = -1
	}

	for i, holds := range containers[:min(needed, len(containers))] {
		if len(holds) > size {
			holds = slices.Sorted(slices.Values(holds))
		}

		for _, member := range holds {
			if at, is := place[member]; is && at < 0 && counts[i] < size {
				place[member] = i
				counts[i]++
			}
		}
	}

	allotted := make([][]string, needed)
	free := 0 // All below are full.

	for _, member := range members {
		at := place[member]
		if at < 0 {
			for counts[free] >= size {
				free++
			}

			at = free
			counts[at]++
		}

		allotted[at] = append(allotted[at], member)
	}

	return allotted
}
