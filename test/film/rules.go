package film

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// shown is how many names a finding shows.
const shown = 5

// Missing are the clusters that were in the pages before a step and are after it, and were in no page in between (ours.md B1).
func Missing(before State, frames []Frame, after State) []string {
	staying := before.Union()
	maps.DeleteFunc(staying, func(cluster string, _ bool) bool { return !after.Union()[cluster] })

	return MissingOf(slices.Sorted(maps.Keys(staying)), frames)
}

// MissingOf says where one of these clusters was in no page.
func MissingOf(clusters []string, frames []Frame) []string {
	var findings []string

	for n, frame := range frames {
		union := frame.Pages.Union()
		missing := slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return union[cluster] })

		if len(missing) > 0 {
			findings = append(findings, fmt.Sprintf("event %d, %s: B1: %d clusters that stay selected are in no page: %s",
				n, frame, len(missing), strings.Join(missing[:min(shown, len(missing))], " ")))
		}
	}

	return findings
}

// Unsafe says what is wrong with the states between a settled one and the next. The group length is the one that is asked for after the
// step; 0 means no bound.
//
//   - No page holds more than PageSize decisions.
//   - Every page has its group labels from the start, and they never change (B5).
//   - Group indices have no gap. Two groups may have the same index on the way, when one takes the other's place.
//   - A page that has decisions does not become empty as long as anything is selected (B3).
//   - No group grows beyond its length by pages that are to stay.
func Unsafe(before State, frames []Frame, after State, length int) []string {
	var findings []string

	last := before

	for n, frame := range frames {
		found := slices.Concat(
			unsafeState(frame.Pages), relabeled(last, frame.Pages), emptied(frame, last, after), overgrown(last, frame.Pages, after, length))
		for _, finding := range found {
			findings = append(findings, fmt.Sprintf("event %d, %s: %s", n, frame, finding))
		}

		last = frame.Pages
	}

	return findings
}

func unsafeState(pages State) []string {
	var findings []string

	indices := map[int]bool{}

	for _, page := range pages {
		group, err := GroupOf(page)
		if err != nil {
			findings = append(findings, "B5: "+err.Error())

			continue
		}

		indices[group.Index] = true

		if size := len(page.Status.Decisions); size > PageSize {
			findings = append(findings, fmt.Sprintf("%s has %d decisions", page.Name, size))
		}
	}

	for index := range len(indices) {
		if !indices[index] {
			findings = append(findings, fmt.Sprintf("group index %d is missing among %v", index, slices.Sorted(maps.Keys(indices))))
		}
	}

	return findings
}

func relabeled(before, now State) []string {
	var findings []string

	labels := map[types.UID]string{}
	for _, page := range before {
		labels[page.UID] = groupLabels(page)
	}

	for _, page := range now {
		if was, known := labels[page.UID]; known && was != groupLabels(page) {
			findings = append(findings, fmt.Sprintf("B5: %s goes from group %s to %s", page.Name, was, groupLabels(page)))
		}
	}

	return findings
}

func groupLabels(page *clusterv1beta1.PlacementDecision) string {
	return fmt.Sprintf("%q/%q", page.Labels[clusterv1beta1.DecisionGroupIndexLabel], page.Labels[clusterv1beta1.DecisionGroupNameLabel])
}

func emptied(frame Frame, before, after State) []string {
	if frame.Type == watch.Deleted || len(frame.Page.Status.Decisions) > 0 || len(after.Union()) == 0 {
		return nil
	}

	for _, page := range before {
		if page.UID == frame.Page.UID && len(page.Status.Decisions) > 0 {
			return []string{fmt.Sprintf("B3: %s becomes empty while clusters are selected", page.Name)}
		}
	}

	return nil
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

// groupSizes count the clusters of every group, on pages that are there in the end.
func groupSizes(pages, after State) map[Group]int {
	sizes := map[Group]int{}

	for group, pages := range pages.groups() {
		sizes[group] = len(slices.DeleteFunc(pages, func(page *clusterv1beta1.PlacementDecision) bool { return !after.has(page.UID) }).Union())
	}

	return sizes
}

// Unsettled says what is wrong with a state that has nothing left to do: every portion, by the name of its group, has exactly these
// clusters, each once, on no more groups and pages than it needs, and the indices count from 0.
func Unsettled(pages State, portions map[string][]string, length int) []string {
	findings := unsafeState(pages)
	groups := pages.groups()
	names := map[int]string{}
	counts := map[string]int{}
	members := map[string][]string{}

	for group, pages := range groups {
		if other, taken := names[group.Index]; taken {
			findings = append(findings, fmt.Sprintf("the groups %q and %q both have index %d", other, group.Name, group.Index))
		}

		names[group.Index] = group.Name
		counts[group.Name]++

		size := 0

		for _, page := range pages {
			size += len(page.Status.Decisions)

			for _, decision := range page.Status.Decisions {
				members[group.Name] = append(members[group.Name], decision.ClusterName)
			}
		}

		if needed := max(1, pieces(size, PageSize)); len(pages) != needed {
			findings = append(findings, fmt.Sprintf("B2: group %d has %d clusters on %d pages, and needs %d", group.Index, size, len(pages), needed))
		}

		if length > 0 && size > length {
			findings = append(findings, fmt.Sprintf("group %d has %d clusters, and may have %d", group.Index, size, length))
		}
	}

	for _, name := range slices.Sorted(maps.Keys(union(counts, portions))) {
		needed := pieces(len(portions[name]), length)
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

// difference shows some names that one list has more often than the other.
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
		if counts[name] != 0 && len(texts) < shown {
			texts = append(texts, fmt.Sprintf("%s %+d", name, counts[name]))
		}
	}

	return strings.Join(texts, ", ")
}
