// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// groupNameAnnotation is the group name of a page that has changed it. It is written together with the label, so that a reader of the page
// that does not have the new status of the Placement yet does not restore the old name.
const groupNameAnnotation = "placement-hub.open-cluster-management.io/group-name"

// Existing has the existing pages of a Placement when a plan is made.
type Existing struct {
	// Codec is the format of the pages.
	Codec api.Codec
	// Placement is the Placement with its existing status.
	Placement *api.Placement
	// Pages are the PlacementDecisions of the Placement, by number; pages with other names come last, by name.
	Pages []*api.Page
	// Taken has the page names that other objects use (docs/spec/differences.md B4).
	Taken map[string]bool
	// Before is the Request of the spec that the decisions were last completely written for, if the spec of the Placement has changed since; nil if
	// it has not changed, or if that spec is unknown (see removalbudget.Budget.Check).
	Before *scheduling.Request
	// TakenOut are the clusters that others than the hub have lately taken out of the decisions, as far as the process of the hub knows.
	TakenOut []string

	// terminating are the pages of the Placement that are being deleted: consumers see their decisions as long as finalizers keep them, and
	// clusters may leave them, but none may come.
	terminating []*api.Page
	// others are the pages of the Placement, by its label, that other writers have made.
	others []*api.Page
	// statusGroups has the groups that the status of the Placement lists, by the names of their pages.
	statusGroups map[string]api.Group
}

// NewExisting selects the pages of a Placement from the pages of its namespace that may belong to it (see PlacementsOf). The pages are not
// copied.
func NewExisting(codec api.Codec, placement *api.Placement, candidates []*api.Page) Existing {
	existing := Existing{Codec: codec, Placement: placement, Taken: map[string]bool{}}
	if codec == placement.API.Codec() {
		existing.statusGroups = groupsByPage(placement.Status.Groups)
	}

	for _, page := range candidates {
		owned := Owns(codec, placement, page)
		if owned && page.DeletionTimestamp.IsZero() {
			existing.Pages = append(existing.Pages, page)
			continue
		}
		existing.Taken[page.Name] = true
		switch {
		case owned:
			existing.terminating = append(existing.terminating, page)
		case page.Scheduler != codec.Scheduler() && codec.Placement(page) == placement.Name:
			existing.others = append(existing.others, page)
		}
	}

	slices.SortFunc(existing.Pages, func(a, b *api.Page) int { return existing.compareNames(a.Name, b.Name) })
	return existing
}

// RequestBefore returns the Before of a Placement that a change of a former Placement led to, which may be nil: the Request of the former one, if the
// decisions were completely written for its spec.
func (e Existing) RequestBefore(former *api.Placement, compiler *selector.Compiler) *scheduling.Request {
	if former == nil || former.Generation == e.Placement.Generation ||
		removalbudget.AppliedGeneration(e.Placement.RemovalSubject()) != former.Generation {
		return nil
	}
	return former.Request(compiler)
}

// groupsByPage returns the groups of a status by page name. A page that is listed twice belongs to the first group.
func groupsByPage(groups []api.GroupStatus) map[string]api.Group {
	pages := 0
	for _, group := range groups {
		pages += len(group.Pages)
	}
	byPage := make(map[string]api.Group, pages)
	for _, group := range slices.Backward(groups) {
		for _, page := range group.Pages {
			byPage[page] = group.Group
		}
	}
	return byPage
}

// unnumbered is the number of a page whose name PageName does not return.
const unnumbered = math.MaxInt

// number returns the number of a page name; names without a number are unnumbered.
func (e Existing) number(name string) int {
	if n, ok := PageNumber(e.Placement.Name, name); ok {
		return n
	}
	return unnumbered
}

// compareNames orders pages by their numbers, then by name.
func (e Existing) compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(e.number(a), e.number(b)), cmp.Compare(a, b))
}

// AllPages returns all pages of the Placement, including those that are being deleted.
func (e Existing) AllPages() []*api.Page { return slices.Concat(e.Pages, e.terminating) }

// Incumbents returns the names of the clusters in the existing decisions.
func (e Existing) Incumbents() map[string]bool {
	incumbents := make(map[string]bool, e.count())
	for _, pages := range [][]*api.Page{e.Pages, e.terminating} {
		for _, page := range pages {
			for i := range page.Decisions {
				incumbents[page.Decisions[i].Cluster] = true
			}
		}
	}
	return incumbents
}

// IncumbentsFor returns the incumbents of a Request of the Placement at a time. Where the decisions have fewer clusters than the Request wants,
// those that have left lately are among them (docs/spec/differences.md B18).
func (e Existing) IncumbentsFor(request *scheduling.Request, now time.Time) scheduling.Incumbents {
	incumbents := scheduling.Incumbents(e.Incumbents())
	if e.Placement == nil || !request.Ranks() || request.Wanted != nil && len(incumbents) >= int(*request.Wanted) {
		return incumbents
	}
	lately := maps.Keys(removalbudget.RemovedLately(e.Placement.Status.Conditions, now))
	for _, cluster := range slices.AppendSeq(slices.Clone(e.TakenOut), lately) {
		if !incumbents[cluster] {
			incumbents[cluster] = false
		}
	}
	return incumbents
}

// clusters returns the names of the clusters in the existing decisions, sorted.
func (e Existing) clusters() []string {
	names := make([]string, 0, e.count())
	for _, pages := range [][]*api.Page{e.Pages, e.terminating} {
		for _, page := range pages {
			for i := range page.Decisions {
				names = append(names, page.Decisions[i].Cluster)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// count returns the number of existing decisions.
func (e Existing) count() int {
	count := 0
	for _, page := range e.Pages {
		count += len(page.Decisions)
	}
	for _, page := range e.terminating {
		count += len(page.Decisions)
	}
	return count
}

// Groups returns the status of the groups that the existing pages form, in the order of the group indices.
func (e Existing) Groups() []api.GroupStatus {
	groups, _ := e.describe()
	return groups
}

// describe returns the groups that the existing pages form, and the number of clusters of all pages.
func (e Existing) describe() (groups []api.GroupStatus, selected int) {
	pages := slices.Clone(e.Pages)
	slices.SortStableFunc(pages, func(a, b *api.Page) int { return compareGroups(e.groupOf(a), e.groupOf(b)) })
	groups, selected = describe(len(pages), func(i int) (api.Group, string, int) {
		return e.groupOf(pages[i]), pages[i].Name, len(pages[i].Decisions)
	})
	if len(e.terminating) > 0 {
		selected = len(e.Incumbents())
	}
	return groups, selected
}

// highestTerminating returns the highest group index of a terminating page; -1 when there is none.
func (e Existing) highestTerminating() int {
	highest := -1
	for _, page := range e.terminating {
		highest = max(highest, e.groupOf(page).Index)
	}
	return highest
}

// groupOf returns the group of a page. Its name is that of the annotation of the last change, if any. Otherwise the group is that of the
// status of the Placement, of the labels, or else the first group without a name. Labels come late because others lose and change them
// (docs/spec/differences.md B4).
func (e Existing) groupOf(page *api.Page) api.Group {
	group, known := e.statusGroups[page.Name]
	if !known {
		group, known = e.Codec.Group(page)
	}
	if !known {
		group = api.Group{}
	}
	if name, renamed := page.Annotations[groupNameAnnotation]; renamed {
		group.Name = name
	}
	return group
}

func compareGroups(a, b api.Group) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
}

// describe returns the groups of pages that are sorted by group, and the number of their clusters. The function returns the group, the name
// and the number of clusters of each page.
func describe(pages int, page func(i int) (group api.Group, name string, clusters int)) (groups []api.GroupStatus, selected int) {
	names := make([]string, 0, pages)
	start := 0
	for i := range pages {
		group, name, clusters := page(i)
		selected += clusters
		last := len(groups) - 1
		if last < 0 || groups[last].Group != group {
			groups = append(groups, api.GroupStatus{Group: group})
			last, start = last+1, len(names)
		}
		names = append(names, name)
		groups[last].Pages = names[start:len(names):len(names)]
		groups[last].Clusters += clusters
	}

	return groups, selected
}
