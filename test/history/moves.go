// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Moved reports where more clusters changed their page between two settled states than stable slots allow (docs/spec/differences.md B2),
// and which pages were given up without need. events lead from one state to the other. length is the group length of the spec after the step,
// 0 for none.
//
// A cluster keeps its page unless
//
//   - it belongs to a decision group of another name now, or
//   - its page had to be given up, also if new clusters of the rule have come to the page before it was deleted, or
//   - an index went from its name to another or back, after any event, because the indexes of all groups of the name can have changed several
//     times on the way, and a page that was given up can have the index of its name again before it is deleted, or
//   - its group was longer than it may be now, for no more clusters than are too many.
//
// A page has to be given up for one of four reasons. They are bounded by the clusters that stay in groups of the same name, because these
// groups never have fewer clusters in between:
//
//   - its group has an index that may be superfluous: not less than the number of groups that the staying clusters fill,
//   - its group is one of those that its name has too many,
//   - its index belongs to another rule now, or did so for a time (docs/spec/differences.md B8),
//   - its group has more pages than the clusters that stay in the group fill.
//
// The only page of a placement may also be created anew, because it must have the suffix "-1".
func Moved(before State, events []Event, after State, length int) []string {
	was, is := before.positions(), after.positions()
	portions, groups := map[string]int{}, map[Group]int{}
	for cluster, place := range was {
		now, selected := is[cluster]
		if !selected {
			continue
		}
		if now.group.Name == place.group.Name {
			portions[place.group.Name]++
		}
		if now.group == place.group {
			groups[place.group]++
		}
	}

	names := namesAt(before, events, after)
	return append(
		unneededMoves(before, after, names, portions, length), unneededDeletions(before, after, names, portions, groups, length)...)
}

func unneededMoves(before, after State, names indexNames, portions map[string]int, length int) []string {
	was, is := before.positions(), after.positions()
	staying := map[Group]int{}                 // the clusters of the group that belong to its name still
	left := map[Group]map[types.UID][]string{} // the clusters that left pages that are still there
	for cluster, place := range was {
		now, selected := is[cluster]
		if !selected || now.group.Name != place.group.Name {
			continue
		}
		staying[place.group]++
		if now.page != place.page && after.hasPageOf(place) {
			if left[place.group] == nil {
				left[place.group] = map[types.UID][]string{}
			}
			left[place.group][place.page] = append(left[place.group][place.page], cluster)
		}
	}
	var findings []string

	for _, group := range slices.SortedFunc(maps.Keys(left), func(a, b Group) int { return a.Index - b.Index }) {
		pages := before.groups()[group]
		spare := len(pages) - ceilDiv(staying[group], PageSize)
		clusters := leavers(left[group], spare)
		surplus := 0
		if length > 0 {
			surplus = max(0, len(pages.Union())-length)
		}
		if len(clusters) > surplus && !names.renumbered(group.Name) && !drained(before, group, portions[group.Name], length) {
			findings = append(findings, fmt.Sprintf("B2: %d clusters left pages of group %d %q that are still there, and %d were too many: %s",
				len(clusters), group.Index, group.Name, surplus, strings.Join(clusters[:min(maxShown, len(clusters))], " ")))
		}
	}
	return findings
}

// leavers returns the clusters by name, without those of so many pages that most clusters left: these pages may have been given up for a time.
func leavers(byPage map[types.UID][]string, spare int) []string {
	pages := slices.SortedFunc(maps.Values(byPage), func(a, b []string) int { return len(b) - len(a) })
	return slices.Sorted(slices.Values(slices.Concat(pages[min(spare, len(pages)):]...)))
}

// drained reports whether a group may have been given up for a time, after which new clusters came to its pages: it is one of the last groups of its
// name, of which the staying clusters do not fill all.
func drained(before State, group Group, staying, length int) bool {
	position := 0 // among the groups of the name, from 0
	for other := range before.groups() {
		if other.Name == group.Name && other.Index < group.Index {
			position++
		}
	}
	return position >= ceilDiv(staying, length)
}

// indexNames has the names that the group with an index had, by index.
type indexNames map[int]map[string]bool

// namesAt returns the names of the groups in two states and after each event between them.
func namesAt(before State, events []Event, after State) indexNames {
	names := indexNames{}
	add := func(state State) {
		for group := range state.groups() {
			if names[group.Index] == nil {
				names[group.Index] = map[string]bool{}
			}
			names[group.Index][group.Name] = true
		}
	}
	add(before)
	for _, event := range events {
		add(event.Pages)
	}
	add(after)
	return names
}

// renumbered reports whether an index went from a group of the name to one of another name, or the other way round.
func (n indexNames) renumbered(name string) bool {
	for _, names := range n {
		if names[name] && len(names) > 1 {
			return true
		}
	}
	return false
}

func unneededDeletions(before, after State, names indexNames, portions map[string]int, groups map[Group]int, length int) []string {
	lowest := 0
	for _, staying := range portions {
		lowest += ceilDiv(staying, length)
	}
	left := map[string]int{}
	stays := after.groups()
	for group := range before.groups() {
		left[group.Name]++
	}

	for name := range left {
		left[name] -= ceilDiv(portions[name], length) // so many groups the portion may give up
	}
	var findings []string

	for _, group := range slices.SortedFunc(maps.Keys(before.groups()), func(a, b Group) int { return a.Index - b.Index }) {
		pages := before.groups()[group]
		if len(names[group.Index]) > 1 {
			continue // Another rule has the index, or had it (docs/spec/differences.md B8).
		}
		gone := len(slices.DeleteFunc(slices.Clone(pages), func(page *clusterv1beta1.PlacementDecision) bool { return after.has(page.UID) }))
		spare := len(pages) - ceilDiv(groups[group], PageSize)

		switch {
		case group.Index >= lowest, len(after) == 1, gone <= spare && len(stays[group]) > 0:
		case left[group.Name] > 0:
			left[group.Name]--
		default:
			findings = append(findings, fmt.Sprintf("B2: %d of %d pages of group %d %q are gone, of which %d could be spared",
				gone, len(pages), group.Index, group.Name, spare))
		}
	}

	return findings
}
