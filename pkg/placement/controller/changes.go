// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// pageChanges lists what a reconcile has written to the pages in the API of the Placement, in the order of the writes. The metrics of
// decisions, the events about pages and the warnings of losses are derived from it.
type pageChanges struct {
	before []*api.Page
	// edited are the names of the pages that others had edited.
	edited map[string]bool
	list   []pageChange
	// was and is are what compare has found; nil before.
	was, is map[string]string
}

// pageChange is a written page, or the last state of a deleted one.
type pageChange struct {
	action placement.Action
	page   *api.Page
	// silent reports that no event is sent, because a list that is created without decisions changes nothing for clients.
	silent bool
}

func (c *pageChanges) add(change pageChange) {
	c.list = append(c.list, change)
	c.was, c.is = nil, nil
}

// compare returns the page of each cluster on the pages that were written, before and as the writes have left them. A cluster that is on another
// page, too, is in neither: it was neither gained nor lost nor moved. So the changes of a large Placement cost what the written pages have. Before, a
// page that others have not edited counts first; after, the page that had the cluster before.
func (c *pageChanges) compare() (was, is map[string]string) {
	if c.was != nil {
		return c.was, c.is
	}
	former, written, others := c.split()
	c.was, c.is = make(map[string]string, clustersOn(former)), make(map[string]string, clustersOn(written))
	for cluster, page := range standing(former) {
		if _, found := c.was[cluster]; !found || !c.edited[page] {
			c.was[cluster] = page
		}
	}
	for cluster, page := range standing(written) {
		if _, found := c.is[cluster]; !found || c.was[cluster] == page { // After a failed write two pages can have it.
			c.is[cluster] = page
		}
	}
	for cluster := range standing(others) {
		delete(c.was, cluster)
		delete(c.is, cluster)
	}
	return c.was, c.is
}

// split returns the pages that were written, as they were before and as the writes have left them, and the others.
func (c *pageChanges) split() (former, written, others []*api.Page) {
	last := make(map[string]pageChange, len(c.list))
	for _, change := range c.list {
		last[change.page.Name] = change
	}
	for _, page := range c.before {
		if _, changed := last[page.Name]; changed {
			former = append(former, page)
		} else {
			others = append(others, page)
		}
	}
	for _, change := range last {
		if change.action != placement.ActionDelete {
			written = append(written, change.page)
		}
	}
	return former, written, others
}

// standing iterates over the clusters of pages and the names of their pages.
func standing(pages []*api.Page) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, page := range pages {
			for i := range page.Decisions {
				if !yield(page.Decisions[i].Cluster, page.Name) {
					return
				}
			}
		}
	}
}

// clustersOn returns the number of decisions of pages.
func clustersOn(pages []*api.Page) int {
	clusters := 0
	for _, page := range pages {
		clusters += len(page.Decisions)
	}
	return clusters
}

// count returns how many clusters the pages gained and lost, and how many others moved to another page.
func (c *pageChanges) count() (gained, lost, moved int) {
	was, is := c.compare()
	for cluster, page := range is {
		switch before, stood := was[cluster]; {
		case !stood:
			gained++
		case before != page:
			moved++
		}
	}
	return gained, len(without(was, is)), moved
}

// mayLose reports whether the changed pages had more than a percentage of the clusters, which is cheap to check and mostly false.
func (c *pageChanges) mayLose(percent int) bool {
	touched, all := 0, 0
	for _, page := range c.before {
		all += len(page.Decisions)
		if slices.ContainsFunc(c.list, func(change pageChange) bool { return change.page.Name == page.Name }) {
			touched += len(page.Decisions)
		}
	}
	return exceeds(touched, all, percent)
}

// lost returns, by name, the clusters that were in a page and are in none any more, and how many there were. Clusters that only an edited
// page had are not counted: the hub may never have selected them.
func (c *pageChanges) lost() (lost []string, all int) {
	clusters := make(map[string]bool, clustersOn(c.before))
	for cluster := range standing(c.before) {
		clusters[cluster] = true
	}
	was, is := c.compare()
	gone := without(was, is)
	lost = slices.DeleteFunc(slices.Clone(gone), func(cluster string) bool { return c.edited[was[cluster]] })
	return lost, len(clusters) - (len(gone) - len(lost))
}

// exceeds reports whether a part of all is more than a percentage.
func exceeds(part, all, percent int) bool { return part*100 > percent*all }

// describe returns "lost eu2 (ManagedCluster is deleted), gained eu3 (rank 2, score 87)", and the reasons in it; empty if no cluster was gained or
// lost.
func (c *pageChanges) describe(result *scheduling.Result) (text string, reasons []history.Reason) {
	if len(c.list) == 0 {
		return "", nil
	}
	known := func(cluster, reason string) string {
		reasons = append(reasons, history.Reason{Cluster: cluster, Text: reason})
		return reason
	}
	was, is := c.compare()
	var texts []string

	if lost := without(was, is); len(lost) > 0 {
		texts = append(texts, "lost "+scheduling.NameReasons(lost, func(cluster string) string {
			if c.edited[was[cluster]] {
				return known(cluster, "another client had written it")
			}
			return known(cluster, result.ReasonOf(cluster))
		}))
	}

	if gained := without(is, was); len(gained) > 0 {
		texts = append(texts, "gained "+scheduling.NameReasons(gained, func(cluster string) string {
			verdict, _ := result.VerdictOf(cluster)
			return known(cluster, fmt.Sprintf("rank %d, score %d", verdict.Rank, verdict.Score))
		}))
	}
	return strings.Join(texts, ", "), reasons
}

// without returns the clusters of a map that another one lacks, sorted.
func without(clusters, others map[string]string) []string {
	var left []string
	for cluster := range clusters {
		if _, found := others[cluster]; !found {
			left = append(left, cluster)
		}
	}
	slices.Sort(left)
	return left
}
