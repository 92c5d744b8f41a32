// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// PageSize is the greatest number of decisions in one PlacementDecision.
const PageSize = 100

// State is all pages of one placement at a moment, by number.
type State []*clusterv1beta1.PlacementDecision

func newState(pages iter.Seq[*clusterv1beta1.PlacementDecision]) State {
	return slices.SortedFunc(pages, func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}

// StateOf returns the state of a list of pages.
func StateOf(pages []clusterv1beta1.PlacementDecision) State {
	return newState(func(yield func(*clusterv1beta1.PlacementDecision) bool) {
		for i := range pages {
			if !yield(&pages[i]) {
				return
			}
		}
	})
}

// String has the number of decisions of every page, by group.
func (s State) String() string {
	texts := make([]string, 0, len(s))
	for _, page := range s {
		texts = append(texts, fmt.Sprintf("%s in %s: %d", page.Name, groupLabels(page), len(page.Status.Decisions)))
	}
	return strings.Join(texts, ", ")
}

// Group is the decision group in the labels of a page.
type Group struct {
	Index int
	Name  string
}

// GroupOf returns the group of a page. It returns an error if a label is missing or the index is not a number.
func GroupOf(page *clusterv1beta1.PlacementDecision) (Group, error) {
	name, named := page.Labels[clusterv1beta1.DecisionGroupNameLabel]
	index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	if err != nil || !named {
		return Group{}, fmt.Errorf("%s has the labels %v, not a group index and a group name", page.Name, page.Labels)
	}
	return Group{Index: index, Name: name}, nil
}

// Union returns the set of clusters in all pages.
func (s State) Union() map[string]bool {
	union := map[string]bool{}
	for _, page := range s {
		for _, decision := range page.Status.Decisions {
			union[decision.ClusterName] = true
		}
	}
	return union
}

// position is the page and the group of a cluster.
type position struct {
	page  types.UID
	group Group
}

// positions returns the position of every cluster; of several pages the last one counts.
func (s State) positions() map[string]position {
	places := map[string]position{}
	for _, page := range s {
		group, err := GroupOf(page)
		if err != nil {
			continue // The rules find it.
		}
		for _, decision := range page.Status.Decisions {
			places[decision.ClusterName] = position{page: page.UID, group: group}
		}
	}
	return places
}

// groups returns the pages of every group.
func (s State) groups() map[Group]State {
	groups := map[Group]State{}
	for _, page := range s {
		if group, err := GroupOf(page); err == nil {
			groups[group] = append(groups[group], page)
		}
	}
	return groups
}

// hasPageOf reports whether the page of a position exists and has the same group.
func (s State) hasPageOf(at position) bool {
	return slices.ContainsFunc(s, func(page *clusterv1beta1.PlacementDecision) bool {
		group, err := GroupOf(page)
		return page.UID == at.page && err == nil && group == at.group
	})
}

func (s State) has(uid types.UID) bool {
	return slices.ContainsFunc(s, func(page *clusterv1beta1.PlacementDecision) bool { return page.UID == uid })
}

// ceilDiv returns how many containers of a size hold so many members; a size of 0 means no bound.
func ceilDiv(members, size int) int {
	if members == 0 || size <= 0 {
		return min(members, 1)
	}
	return (members + size - 1) / size
}
