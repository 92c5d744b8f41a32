package decision

import (
	"cmp"
	"math"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// Present is what exists for a placement when a plan is made.
type Present struct {
	// Form is how the pages are written.
	Form record.Form
	// Placement is the placement with its present status.
	Placement *record.Placement
	// Pages are the PlacementDecisions of the placement, by number; those with other names come last, by name.
	Pages []*record.Page
	// Taken are page names that belong to somebody else (docs/spec/differences.md B4).
	Taken map[string]bool

	// terminating are pages of the placement that are being deleted: they hold decisions, but nothing can be written to them.
	terminating []*record.Page
	// statusGroups are the groups of pages by name that the status of the placement lists.
	statusGroups map[string]record.Group
}

// NewPresent sorts the pages of the placement's namespace that may be its own (see PlacementsOf).
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

// groupsByPage are the groups of the pages that a status lists. One that it lists twice is of the first.
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

// unnumbered is the number of a page that is not named as PageName does it.
const unnumbered = math.MaxInt

// number is the number of a page name; other names come after all that have one.
func (p Present) number(name string) int {
	if n, ok := PageNumber(p.Placement.Name, name); ok {
		return n
	}

	return unnumbered
}

// compareNames orders pages by their numbers.
func (p Present) compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(p.number(a), p.number(b)), cmp.Compare(a, b))
}

// AllPages are all pages that hold decisions of the placement, also those that are being deleted.
func (p Present) AllPages() []*record.Page { return slices.Concat(p.Pages, p.terminating) }

// Incumbents are the clusters in the present decisions.
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

// clusters are the names of the clusters in the present decisions, sorted.
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

// count is how many decisions there are.
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

// Groups describe the pages as they are, in the order of the group indices.
func (p Present) Groups() []record.GroupStatus {
	groups, _ := p.describe()

	return groups
}

// describe tells the groups of the pages as they are, and how many clusters are in them.
func (p Present) describe() (groups []record.GroupStatus, selected int) {
	pages := slices.Clone(p.Pages)
	slices.SortStableFunc(pages, func(a, b *record.Page) int { return compareGroups(p.groupOf(a), p.groupOf(b)) })

	return describe(len(pages), func(i int) (record.Group, string, int) {
		return p.groupOf(pages[i]), pages[i].Name, len(pages[i].Decisions)
	})
}

// highestTerminating is the greatest group index of a page that is being deleted; -1 when there is none.
func (p Present) highestTerminating() int {
	highest := -1
	for _, page := range p.terminating {
		highest = max(highest, p.groupOf(page).Index)
	}

	return highest
}

// groupOf is the group that a page is of: the name that it was given last, the one that the placement's status records, the one its labels
// say, or else the first unnamed one. Labels come last because they get lost and are changed by others (docs/spec/differences.md B4).
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
