package decision

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// glance compares an answer with what exists without building it. It knows the plan where groups and pages stay as they are and clusters
// came to or went from one page at most, which is how it is nearly always. A nil glance knows nothing.
type glance struct {
	result  *scheduling.Result
	present Present
	length  int
	// chosen are the selected clusters by name, and portion is the rule that takes each; nil when there are no rules.
	chosen  []*facts.Facts
	portion []int
	// pages are those that exist, in their order.
	pages  []glimpse
	groups []bundle
	// found says of the chosen ones whether they are in a page.
	found []bool
	// selected is how many of the chosen ones are in pages.
	selected int
}

// glimpse is a page.
type glimpse struct {
	page  *record.Page
	group int // its place in the groups
	// at is where each cluster of the page is among the chosen ones; -1 for those that are not.
	at []int32
	// stays is how many of them are chosen; comes are the new ones.
	stays int
	comes []int32
}

// bundle is a group, with how many stay in it and in how many pages.
type bundle struct {
	record.Group

	portion, members, pages int
}

// look makes a glance; nil when groups, or who is in which, have to change.
func look(result *scheduling.Result, present Present) *glance {
	if result.Held() || len(present.Pages) == 0 || len(present.leaving) > 0 {
		return nil
	}

	chosen := result.Selected
	g := &glance{
		result: result, present: present, length: result.Request.GroupLength.Of(len(chosen)), chosen: chosen,
		pages: make([]glimpse, 0, len(present.Pages)), found: make([]bool, len(chosen)),
	}

	if !g.divide() || !g.locate() || !g.groupsStay() {
		return nil
	}

	return g
}

// divide finds the portion of every chosen cluster; false when several portions have one name.
func (g *glance) divide() bool {
	rules := g.result.Request.Groups
	if len(rules) == 0 {
		return true
	}

	names := make(map[string]bool, len(rules))
	for _, rule := range rules {
		names[rule.Name] = true
	}

	if len(names) < len(rules) || names[""] {
		return false
	}

	g.portion = slices.Repeat([]int{len(rules)}, len(g.chosen))

	for n, rule := range rules {
		pass := &selector.Pass{}

		for i, cluster := range g.chosen {
			if g.portion[i] == len(rules) && rule.Selector.Matches(cluster, pass) {
				g.portion[i] = n
			}
		}
	}

	return true
}

func (g *glance) portionOf(cluster int32) int {
	if g.portion == nil {
		return 0
	}

	return g.portion[cluster]
}

// portionNamed is the portion of a name; -1 when there is none.
func (g *glance) portionNamed(name string) int {
	if name == "" {
		return len(g.result.Request.Groups)
	}

	return slices.IndexFunc(g.result.Request.Groups, func(rule scheduling.GroupRule) bool { return rule.Name == name })
}

// locate finds the clusters of every page among the chosen ones; false when a cluster has to change its page or its group.
func (g *glance) locate() bool {
	places := make([]int32, 0, g.present.count())
	byGroup := map[record.Group]int{}

	for _, page := range g.present.Pages {
		group := g.present.groupOf(page)

		if _, ours := PageNumber(g.present.Placement.Name, page.Name); !ours {
			return false
		}

		n, known := byGroup[group]
		if !known {
			n = len(g.groups)
			byGroup[group] = n
			g.groups = append(g.groups, bundle{Group: group, portion: g.portionNamed(group.Name)})
		}

		seen := glimpse{page: page, group: n}
		start := len(places)
		next := 0

		for i := range page.Decisions {
			at := g.search(page.Decisions[i].Cluster, next)
			places = append(places, int32(at))

			if at < 0 {
				continue
			}

			if g.found[at] || g.portionOf(int32(at)) != g.groups[n].portion {
				return false
			}

			g.found[at] = true
			seen.stays++
			next = at + 1
		}

		seen.at = places[start:]
		g.groups[n].pages++
		g.groups[n].members += seen.stays
		g.selected += seen.stays
		g.pages = append(g.pages, seen)

		if seen.stays > PageSize {
			return false
		}
	}

	return true
}

// search is where a cluster is among the chosen ones; -1 when it is not. It is likely to be the next one, or soon after it.
func (g *glance) search(name string, next int) int {
	low, high := next, next

	for step := 1; high < len(g.chosen) && g.chosen[high].Name < name; step *= 2 {
		low, high = high+1, high+step
	}

	if high == next { // Not behind what came before.
		low = 0
	}

	high = min(high+1, len(g.chosen))

	at, found := slices.BinarySearchFunc(g.chosen[low:high], name, func(f *facts.Facts, name string) int { return cmp.Compare(f.Name, name) })
	if !found {
		return -1
	}

	return low + at
}

// groupsStay reports whether there are as many groups as are needed, in their order, with the right indices and with room, and as many pages
// in each; and gives the new clusters their pages.
func (g *glance) groupsStay() bool {
	if !g.groupsSuffice() {
		return false
	}

	g.arrange()

	if !slices.IsSortedFunc(g.groups, func(a, b bundle) int { return cmp.Compare(a.portion, b.portion) }) || !g.place() {
		return false
	}

	for i := range g.groups {
		if group := &g.groups[i]; group.pages != max(1, (group.members+PageSize-1)/PageSize) {
			return false
		}
	}

	return len(g.pages) > 1 || g.pages[0].page.Name == PageName(g.present.Placement.Name, 1)
}

// groupsSuffice reports whether every portion has as many groups as it needs, none of them too long, and the indices have no gap.
func (g *glance) groupsSuffice() bool {
	needed := make([]int, len(g.result.Request.Groups)+1)
	for i := range g.chosen {
		needed[g.portionOf(int32(i))]++
	}

	for i := range needed {
		needed[i] = (needed[i] + g.length - 1) / g.length
	}

	if len(g.chosen) == 0 {
		needed[len(needed)-1] = 1 // One empty group.
	}

	indices := make([]bool, len(g.groups))

	for i := range g.groups {
		group := &g.groups[i]
		if group.portion < 0 || group.members > g.length || group.Index < 0 || group.Index >= len(indices) || indices[group.Index] {
			return false
		}

		indices[group.Index] = true
		needed[group.portion]--
	}

	return !slices.ContainsFunc(needed, func(missing int) bool { return missing != 0 })
}

// arrange puts the groups in the order of their indices, and the pages in that of their groups.
func (g *glance) arrange() {
	if len(g.groups) == 1 {
		return
	}

	groups := make([]bundle, len(g.groups))

	for i := range g.pages {
		g.pages[i].group = g.groups[g.pages[i].group].Index
	}

	for _, group := range g.groups {
		groups[group.Index] = group
	}

	g.groups = groups

	slices.SortStableFunc(g.pages, func(a, b glimpse) int { return cmp.Compare(a.group, b.group) })
}

// place gives every new cluster the first free place of its portion; false when there are more than one page has room for.
func (g *glance) place() bool {
	if g.selected == len(g.chosen) {
		return true
	}

	if len(g.chosen)-g.selected > PageSize {
		return false
	}

	comers := make([]int32, 0, len(g.chosen)-g.selected)

	for i, found := range g.found {
		if !found {
			comers = append(comers, int32(i))
		}
	}

	if g.result.Request.Order == scheduling.ByScore {
		slices.SortFunc(comers, func(a, b int32) int {
			return cmp.Or(cmp.Compare(g.result.Score(g.chosen[b].Name), g.result.Score(g.chosen[a].Name)), cmp.Compare(a, b))
		})
	}

	fromGroup := make([]int, len(g.result.Request.Groups)+1) // All groups of the portion below are full.
	fromPage := make([]int, len(g.groups))                   // All pages of the group below are full.

	for _, cluster := range comers {
		free := &fromGroup[g.portionOf(cluster)]
		for g.groups[*free].portion != g.portionOf(cluster) || g.groups[*free].members >= g.length {
			*free++
		}

		g.groups[*free].members++

		page := &fromPage[*free]
		for *page < len(g.pages) && (g.pages[*page].group != *free || g.pages[*page].stays+len(g.pages[*page].comes) >= PageSize) {
			*page++
		}

		if *page < len(g.pages) { // Else the group needs another page.
			g.pages[*page].comes = append(g.pages[*page].comes, cluster)
		}
	}

	return true
}
