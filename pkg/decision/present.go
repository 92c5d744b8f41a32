package decision

import (
	"cmp"
	"math"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// Present has the existing pages of a Placement when a plan is made.
type Present struct {
	// Form is the format of the pages.
	Form record.Form
	// Placement is the Placement with its existing status.
	Placement *record.Placement
	// Pages are the PlacementDecisions of the Placement, by number; pages with other names come last, by name.
	Pages []*record.Page
	// Taken has the page names that other objects use (docs/spec/differences.md B4).
	Taken map[string]bool

	// terminating are the pages of the Placement that are being deleted: they have decisions, but cannot be written.
	terminating []*record.Page
	// statusGroups has the groups that the status of the Placement lists, by the names of their pages.
	statusGroups map[string]record.Group
}

// NewPresent selects the pages of a Placement from the pages of its namespace that may belong to it (see PlacementsOf). The pages are not
// copied.
func NewPresent(form record.Form, placement *record.Placement, candidates []*record.Page) Present {
	present := Present{Form: form, Placement: placement, Taken: map[string]bool{}}
	if form == placement.API.Form() {
		present.statusGroups = groupsByPage(placement.Status.Groups)
	}

	for _, page := range candidates {
		owned := Owns(form, placement, page)
		if owned && page.DeletionTimestamp.IsZero() {
			present.Pages = append(present.Pages, page)

			continue
		}

		present.Taken[page.Name] = true

		if owned {
			present.terminating = append(present.terminating, page)
		}
	}

	slices.SortFunc(present.Pages, func(a, b *record.Page) int { return present.compareNames(a.Name, b.Name) })

	return present
}

// groupsByPage returns the groups of a status by page name. A page that is listed twice belongs to the first group.
func groupsByPage(groups []record.GroupStatus) map[string]record.Group {
	pages := 0
	for _, group := range groups {
		pages += len(group.Pages)
	}

	byPage := make(map[string]record.Group, pages)

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
func (p Present) number(name string) int {
	if n, ok := PageNumber(p.Placement.Name, name); ok {
		return n
	}

	return unnumbered
}

// compareNames orders pages by their numbers, then by name.
func (p Present) compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(p.number(a), p.number(b)), cmp.Compare(a, b))
}

// AllPages returns all pages of the Placement, including those that are being deleted.
func (p Present) AllPages() []*record.Page { return slices.Concat(p.Pages, p.terminating) }

// Incumbents returns the names of the clusters in the existing decisions.
func (p Present) Incumbents() map[string]bool {
	incumbents := make(map[string]bool, p.count())

	for _, pages := range [][]*record.Page{p.Pages, p.terminating} {
		for _, page := range pages {
			for i := range page.Decisions {
				incumbents[page.Decisions[i].Cluster] = true
			}
		}
	}

	return incumbents
}

// clusters returns the names of the clusters in the existing decisions, sorted.
func (p Present) clusters() []string {
	names := make([]string, 0, p.count())

	for _, pages := range [][]*record.Page{p.Pages, p.terminating} {
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
func (p Present) count() int {
	count := 0
	for _, page := range p.Pages {
		count += len(page.Decisions)
	}

	for _, page := range p.terminating {
		count += len(page.Decisions)
	}

	return count
}

// Groups returns the status of the groups that the existing pages form, in the order of the group indices.
func (p Present) Groups() []record.GroupStatus {
	groups, _ := p.describe()

	return groups
}

// describe returns the groups that the existing pages form, and the number of their clusters.
func (p Present) describe() (groups []record.GroupStatus, selected int) {
	pages := slices.Clone(p.Pages)
	slices.SortStableFunc(pages, func(a, b *record.Page) int { return compareGroups(p.groupOf(a), p.groupOf(b)) })

	return describe(len(pages), func(i int) (record.Group, string, int) {
		return p.groupOf(pages[i]), pages[i].Name, len(pages[i].Decisions)
	})
}

// highestTerminating returns the highest group index of a terminating page; -1 when there is none.
func (p Present) highestTerminating() int {
	highest := -1
	for _, page := range p.terminating {
		highest = max(highest, p.groupOf(page).Index)
	}

	return highest
}

// groupOf returns the group of a page. Its name is that of the annotation of the last change, if any. Otherwise the group is that of the
// status of the Placement, of the labels, or else the first group without a name. Labels come late because others lose and change them
// (docs/spec/differences.md B4).
func (p Present) groupOf(page *record.Page) record.Group {
	group, known := p.statusGroups[page.Name]
	if !known {
		group, known = p.Form.Group(page)
	}

	if !known {
		group = record.Group{}
	}

	if name, renamed := page.Annotations[groupNameAnnotation]; renamed {
		group.Name = name
	}

	return group
}
