package decision

import (
	"cmp"
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

	// pages exist for the group already, in the order of their numbers.
	pages []*record.Page
}

// Groups cuts every portion into groups of at most so many members. A portion without clusters makes no group; when nothing is selected
// there is one empty group.
//
// Where nothing exists yet, the groups follow the order of the portions, and their members the order of the answer. From then on a member
// keeps its group. A portion with more groups than it needs gives up those of the highest indices, new groups take the lowest free
// indices, and a group whose index would leave a gap below it is made anew at a lower one.
func Groups(portions []Portion, length int, present Present) []Group {
	vacant := present.groups()

	var groups []Group

	for _, portion := range portions {
		old := vacant[portion.Name]
		allotted := allot(portion.Clusters, members(old), length)

		for i, clusters := range allotted {
			group := Group{Group: record.Group{Index: -1, Name: portion.Name}, Clusters: clusters}
			if i < len(old) {
				group.Index, group.pages = old[i].Index, old[i].pages
			}

			groups = append(groups, group)
		}

		// Another portion of the name goes on where this one ended.
		vacant[portion.Name] = old[min(len(allotted), len(old)):]
	}

	if len(groups) == 0 {
		groups = []Group{{Group: record.Group{Index: -1}}}
		if old := vacant[""]; len(old) > 0 && old[0].Index == 0 {
			groups = old[:1]
			groups[0].Clusters = nil
		}
	}

	number(groups)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Index, b.Index) })

	return groups
}

func members(groups []Group) [][]string {
	members := make([][]string, 0, len(groups))
	for _, group := range groups {
		members = append(members, group.Clusters)
	}

	return members
}

// number gives the lowest free indices to new groups, and to those that would stand behind a gap or on the index of another.
func number(groups []Group) {
	taken := make([]bool, len(groups))
	free := 0 // All below are taken.

	for i := range groups {
		group := &groups[i]
		if group.Index < 0 || group.Index >= len(groups) || taken[group.Index] {
			group.Index, group.pages = -1, nil

			continue
		}

		taken[group.Index] = true
	}

	for i := range groups {
		if groups[i].Index < 0 {
			for taken[free] {
				free++
			}

			groups[i].Index, taken[free] = free, true
		}
	}
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
