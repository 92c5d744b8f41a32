package placement

import (
	"maps"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
)

// pageChanges lists what a reconcile has written to the pages in the API of the Placement, in the order of the writes. The metrics of
// decisions, the events about pages and the warnings of losses are derived from it.
type pageChanges struct {
	before []*api.Page
	list   []pageChange
}

// pageChange is a written page, or the last state of a deleted one.
type pageChange struct {
	action decision.Action
	page   *api.Page
	// silent reports that no event is sent: a list that becomes present and has no decisions, as before, is no news.
	silent bool
}

func (c *pageChanges) add(change pageChange) { c.list = append(c.list, change) }

// after returns the pages as the changes have left them, in any order.
func (c *pageChanges) after() []*api.Page {
	pages := make(map[string]*api.Page, len(c.before))
	for _, page := range c.before {
		pages[page.Name] = page
	}

	for _, change := range c.list {
		if change.action == decision.ActionDelete {
			delete(pages, change.page.Name)
		} else {
			pages[change.page.Name] = change.page
		}
	}

	return slices.Collect(maps.Values(pages))
}

// count returns how many clusters the pages gained and lost, and how many others moved to another page.
func (c *pageChanges) count() (gained, lost, moved int) {
	before, after := map[string]string{}, map[string]string{}

	for _, page := range c.before {
		for i := range page.Decisions {
			before[page.Decisions[i].Cluster] = page.Name
		}
	}

	for _, page := range c.after() {
		for i := range page.Decisions {
			cluster := page.Decisions[i].Cluster
			if _, stands := after[cluster]; !stands || before[cluster] == page.Name { // Between two writes it may stand in two pages.
				after[cluster] = page.Name
			}
		}
	}

	for cluster, page := range after {
		switch was, stood := before[cluster]; {
		case !stood:
			gained++
		case was != page:
			moved++
		}
	}

	for cluster := range before {
		if _, stays := after[cluster]; !stays {
			lost++
		}
	}

	return gained, lost, moved
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
func (c *pageChanges) lost(edited map[string]bool) (lost []string, all int) {
	own := slices.DeleteFunc(slices.Clone(c.before), func(page *api.Page) bool { return edited[page.Name] })
	was, is := members(own), members(c.after())

	for cluster := range members(c.before) {
		if is[cluster] {
			was[cluster] = true
		}
	}

	all = len(was)
	maps.DeleteFunc(was, func(cluster string, _ bool) bool { return is[cluster] })

	return slices.Sorted(maps.Keys(was)), all
}

// exceeds reports whether a part of all is more than a percentage.
func exceeds(part, all, percent int) bool { return part*100 > percent*all }

func members(pages []*api.Page) map[string]bool {
	members := map[string]bool{}

	for _, page := range pages {
		for i := range page.Decisions {
			members[page.Decisions[i].Cluster] = true
		}
	}

	return members
}
