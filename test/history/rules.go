// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// maxShown is the greatest number of names in a finding.
const maxShown = 5

// Missing reports the clusters that were in the pages before and after a step and in no page in between (docs/spec/differences.md B1).
func Missing(before State, events []Event, after State) []string {
	staying := before.Union()
	maps.DeleteFunc(staying, func(cluster string, _ bool) bool { return !after.Union()[cluster] })
	return MissingOf(slices.Sorted(maps.Keys(staying)), events)
}

// MissingOf reports the events after which one of these clusters was in no page.
func MissingOf(clusters []string, events []Event) []string {
	var findings []string
	for n, event := range events {
		union := event.Pages.Union()
		missing := slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return union[cluster] })
		if len(missing) > 0 {
			findings = append(findings, fmt.Sprintf("event %d, %s: B1: %d clusters that stay selected are in no page: %s",
				n, event, len(missing), strings.Join(missing[:min(maxShown, len(missing))], " ")))
		}
	}
	return findings
}

// Unsafe reports what is wrong with the states between a settled one and the next. length is the group length of the spec after the step; 0
// means no bound.
//
//   - No page has more than PageSize decisions.
//   - Every page has its group labels from the start. Its index never changes, and its name only while it is empty
//     (docs/spec/differences.md B5). Whether it was empty cannot be seen across a gap.
//   - Every group index has one name, and there is no gap: the tracker of sdk-go sees every cluster (docs/spec/differences.md B5).
//   - A page with decisions does not become empty as long as any cluster is selected (docs/spec/differences.md B3), unless another group
//     takes its index.
//   - No group grows beyond its length, counting only pages that stay.
func Unsafe(before State, events []Event, after State, length int) []string {
	var findings []string
	last := before
	for n, event := range events {
		found := slices.Concat(
			unsafeState(event.Pages), relabeled(last, event), emptied(event, last, after, events[n:]),
			overgrown(last, event.Pages, after, length))
		for _, finding := range found {
			findings = append(findings, fmt.Sprintf("event %d, %s: %s", n, event, finding))
		}
		last = event.Pages
	}

	return findings
}

func unsafeState(pages State) []string {
	var findings []string
	indices := map[int]bool{}
	names := map[int]string{}
	for _, page := range pages {
		group, err := GroupOf(page)
		if err != nil {
			findings = append(findings, "B5: "+err.Error())
			continue
		}
		if name, other := names[group.Index]; other && name != group.Name {
			findings = append(findings, fmt.Sprintf("B5: the groups %q and %q both have index %d", name, group.Name, group.Index))
		}
		indices[group.Index], names[group.Index] = true, group.Name

		if size := len(page.Status.Decisions); size > PageSize {
			findings = append(findings, fmt.Sprintf("%s has %d decisions", page.Name, size))
		}
	}

	for index := range len(indices) {
		if !indices[index] {
			findings = append(findings, fmt.Sprintf("group index %d is missing among %v", index, slices.Sorted(maps.Keys(indices))))
		}
	}
	return append(findings, untracked(pages)...)
}

// untracked reports how many clusters in the pages are not seen by the tracker of sdk-go, which consumers use.
func untracked(pages State) []string {
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(&clusterv1beta1.Placement{}, lister(pages), nil)
	if err := tracker.Refresh(); err != nil {
		return []string{"B5: the tracker says: " + err.Error()}
	}
	if seen, all := len(tracker.ExistingClusterGroupsBesides().GetClusters()), len(pages.Union()); seen != all {
		return []string{fmt.Sprintf("B5: the tracker sees %d of %d clusters", seen, all)}
	}
	return nil
}

// lister implements the lister of a tracker with the pages of a state.
type lister State

// List returns all pages.
func (l lister) List(labels.Selector, string) ([]*clusterv1beta1.PlacementDecision, error) {
	return l, nil
}

func relabeled(before State, event Event) []string {
	var findings []string
	known := map[types.UID]*clusterv1beta1.PlacementDecision{}
	for _, page := range before {
		known[page.UID] = page
	}

	for _, page := range event.Pages {
		was := known[page.UID]
		if was == nil || groupLabels(was) == groupLabels(page) {
			continue
		}
		sameIndex := was.Labels[clusterv1beta1.DecisionGroupIndexLabel] == page.Labels[clusterv1beta1.DecisionGroupIndexLabel]
		if !sameIndex || !event.Gap && len(was.Status.Decisions)+len(page.Status.Decisions) > 0 {
			findings = append(findings, fmt.Sprintf("B5: %s goes from group %s to %s with %d decisions", page.Name, groupLabels(was),
				groupLabels(page), len(was.Status.Decisions)))
		}
	}

	return findings
}

func groupLabels(page *clusterv1beta1.PlacementDecision) string {
	return fmt.Sprintf("%q/%q", page.Labels[clusterv1beta1.DecisionGroupIndexLabel], page.Labels[clusterv1beta1.DecisionGroupNameLabel])
}

func emptied(event Event, before, after State, then []Event) []string {
	if event.Type == watch.Deleted || len(event.Page.Status.Decisions) > 0 || len(after.Union()) == 0 {
		return nil
	}
	for _, page := range before {
		if page.UID == event.Page.UID && len(page.Status.Decisions) > 0 && !makesRoom(page, then) {
			return []string{fmt.Sprintf("B3: %s becomes empty while clusters are selected", page.Name)}
		}
	}
	return nil
}

// makesRoom reports whether a page joins another group or is deleted in one of these events. It compares the pages after each event, because
// an event after a gap is not always one of the page.
func makesRoom(page *clusterv1beta1.PlacementDecision, then []Event) bool {
	return slices.ContainsFunc(then, func(event Event) bool {
		return !slices.ContainsFunc(event.Pages, func(now *clusterv1beta1.PlacementDecision) bool {
			return now.UID == page.UID && groupLabels(now) == groupLabels(page)
		})
	})
}

func overgrown(before, now, after State, length int) []string {
	if length <= 0 {
		return nil
	}
	var findings []string
	sizes := groupSizes(before, after)

	for group, size := range groupSizes(now, after) {
		if size > max(length, sizes[group]) {
			findings = append(findings, fmt.Sprintf("group %d %q grows from %d to %d clusters, and may have %d",
				group.Index, group.Name, sizes[group], size, length))
		}
	}
	return findings
}

// groupSizes counts the clusters of every group, on pages that exist in the state after.
func groupSizes(pages, after State) map[Group]int {
	sizes := map[Group]int{}
	for group, pages := range pages.groups() {
		sizes[group] = len(slices.DeleteFunc(pages, func(page *clusterv1beta1.PlacementDecision) bool { return !after.has(page.UID) }).Union())
	}
	return sizes
}

// Unsettled reports what is wrong with a settled state: the groups of every name have exactly these clusters, each once, on no more groups
// and pages than needed, and the indices count from 0. The groups follow the order of the names (docs/spec/differences.md B8), and the rest
// is the last one.
func Unsettled(pages State, order []string, portions map[string][]string, length int) []string {
	findings := unsafeState(pages)
	groups := pages.groups()
	counts := map[string]int{}
	members := map[string][]string{}
	for group, pages := range groups {
		counts[group.Name]++

		size := 0
		for _, page := range pages {
			size += len(page.Status.Decisions)
			for _, decision := range page.Status.Decisions {
				members[group.Name] = append(members[group.Name], decision.ClusterName)
			}
		}
		if needed := max(1, ceilDiv(size, PageSize)); len(pages) != needed {
			findings = append(findings, fmt.Sprintf("B2: group %d has %d clusters on %d pages, and needs %d", group.Index, size, len(pages), needed))
		}

		if length > 0 && size > length {
			findings = append(findings, fmt.Sprintf("group %d has %d clusters, and may have %d", group.Index, size, length))
		}
	}

	findings = append(findings, misordered(groups, order)...)
	for _, name := range slices.Sorted(maps.Keys(union(counts, portions))) {
		needed := ceilDiv(len(portions[name]), length)
		if name == "" && len(pages.Union()) == 0 {
			needed = 1
		}
		if counts[name] != needed {
			findings = append(findings, fmt.Sprintf("B2: %q has %d clusters in %d groups, and needs %d",
				name, len(members[name]), counts[name], needed))
		}

		if got := slices.Sorted(slices.Values(members[name])); !slices.Equal(got, slices.Sorted(slices.Values(portions[name]))) {
			findings = append(findings, fmt.Sprintf("%q has %d clusters, want %d: %s", name, len(got), len(portions[name]),
				difference(got, portions[name])))
		}
	}

	return findings
}

// misordered reports the groups that follow a group of a later name.
// misordered reports groups behind a group of a later rule. Two groups with the same index are no such finding: unsafeState reports them.
func misordered(groups map[Group]State, order []string) []string {
	var findings []string
	rule := func(group Group) int {
		if group.Name == "" {
			return len(order)
		}
		return slices.Index(order, group.Name)
	}

	last := 0
	for _, group := range slices.SortedFunc(maps.Keys(groups), func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(rule(a), rule(b)))
	}) {
		if rule(group) < last {
			findings = append(findings, fmt.Sprintf("B8: group %d %q follows a group of a later rule", group.Index, group.Name))
		}
		last = max(last, rule(group))
	}
	return findings
}

func union(counts map[string]int, portions map[string][]string) map[string]bool {
	names := map[string]bool{}
	for name := range counts {
		names[name] = true
	}
	for name := range portions {
		names[name] = true
	}
	return names
}

// difference returns some names that one list has more often than the other.
func difference(got, want []string) string {
	counts := map[string]int{}
	for _, name := range got {
		counts[name]++
	}
	for _, name := range want {
		counts[name]--
	}
	var texts []string

	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] != 0 && len(texts) < maxShown {
			texts = append(texts, fmt.Sprintf("%s %+d", name, counts[name]))
		}
	}
	return strings.Join(texts, ", ")
}
