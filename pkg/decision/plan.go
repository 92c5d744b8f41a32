package decision

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// groupNameAnnotation is on a page that has changed its group name, and is that name. It is written together with the label, so that who
// reads the page before the status of the placement tells of the change does not put the old name back.
const groupNameAnnotation = "placement-hub.open-cluster-management.io/group-name"

// Write is one write of a page. A page is written twice when it changes its group name: it is emptied, and then renamed and filled.
type Write struct {
	// Current is the PlacementDecision as it is before this write: as it was when the plan was made, but empty once the plan has emptied it.
	// It is nil when the plan itself creates it.
	Current *record.Page
	// Desired is what it is to become by this write.
	Desired *record.Page
	// Create says that the page does not exist, UpdateMetadata that labels or owners of ours are wrong, UpdateDecisions that the decisions are.
	Create, UpdateMetadata, UpdateDecisions bool
	// Touch says that nothing of it is wrong, and it is written for its resourceVersion (see withTouches).
	Touch bool
	// Delete says that the page is deleted: its group makes room for another one at the same index, which comes later in the plan.
	Delete bool
}

// Plan is what to write for a placement, in a safe order: all Writes, then the status of the Placement, then all Deletes.
type Plan struct {
	// Form is how the pages are written.
	Form record.Form
	// Writes are in an order in which no cluster that stays is ever missing from all pages (see writeOrder).
	Writes []Write
	// Deletes are surplus pages in a safe order. One that the plan itself creates has a name and no uid.
	Deletes []*record.Page
	// Groups describe the pages that stay, in the order of their indexes; Selected is how many decisions they have.
	Groups   []record.GroupStatus
	Selected int
	// ScoresAt is when the scores of the decisions were brought up to date; nil when there are none.
	ScoresAt *metav1.Time
	// RequeueAt is when there is more to write although nothing changes; zero means never.
	RequeueAt time.Time
	// Requeue says that there is more to do once the plan is carried out: a name has to become free first.
	Requeue bool
}

// Empty reports whether there is nothing to write.
func (p Plan) Empty() bool { return len(p.Writes) == 0 && len(p.Deletes) == 0 }

// NewPlan compares the result of an engine with what exists at a time.
func NewPlan(result *scheduling.Result, present Present, now metav1.Time) Plan {
	last := present.Placement.Status.LastScoreUpdate

	if result.Stalled() {
		desired := NewDesired(result, present, now.Time)
		plan := desired.Plan()
		plan.ScoresAt = last

		return plan
	}

	selection := newSelection(result, present)
	sorted, due := scoreUpdate(result, present, now.Time)
	desired := selection.desired(sorted)
	plan := desired.Plan()

	switch {
	case result.Request.Order != scheduling.ByScore:
	case sorted && (last == nil || !plan.Empty()):
		plan.ScoresAt = wholeSecond(now)
	default:
		plan.ScoresAt = last

		if !sorted && selection.resorts() {
			plan.RequeueAt = due
		}
	}

	return plan
}

// resorts reports whether there is something to write when the scores may be brought up to date.
func (s *selection) resorts() bool {
	if !s.holdsDesired() {
		return true // Who comes or goes has to be written at any time.
	}

	scores := s.scores(true)

	for i := range s.writable() {
		page := &s.pages[i]
		for n, id := range page.clusters {
			if page.Decisions[n].Score != scores[id] {
				return true
			}
		}
	}

	later := s.desired(true)

	return !later.exists()
}

// wholeSecond is the time as an API server keeps it. It is rounded up, so that what waits for the interval after it waits long enough.
func wholeSecond(t metav1.Time) *metav1.Time {
	rounded := metav1.NewTime(t.Truncate(time.Second))
	if rounded.Time.Before(t.Time) {
		rounded.Time = rounded.Add(time.Second)
	}

	return &rounded
}

// Plan compares the desired decisions with what exists. Where the decisions are kept, it makes an empty page only where there is none;
// a placement whose name cannot stand in a label gets none at all (docs/spec/differences.md A1, A2).
func (d *Desired) Plan() Plan {
	pages := d.layout()
	plan := Plan{Form: d.Form}
	plan.Groups, plan.Selected = describe(len(pages), func(i int) (record.Group, string, int) {
		return pages[i].group, pages[i].name, len(pages[i].clusters)
	})
	plan.Writes, plan.Deletes = d.writes(pages)
	plan.Requeue = !d.keep && len(pages) == 1 && pages[0].number != 1 && !d.Taken[PageName(d.Placement.Name, 1)]

	return plan
}

// layout divides the desired clusters into pages.
func (d *Desired) layout() []desiredPage {
	switch {
	case !d.keep:
		return d.paginate(d.groups(d.partitions, d.groupLength), d.sorted)
	case len(d.Pages) > 0:
		return d.kept()
	case isLabelValue(d.Placement.Name):
		// The clusters in pages that are being deleted are kept in new pages.
		all := partition{clusters: make([]int32, d.desired.count())}
		for id := range all.clusters {
			all.clusters[id] = int32(id)
		}

		return d.paginate(d.groups([]partition{all}, max(len(all.clusters), 1)), false)
	default:
		return nil
	}
}

// exists reports whether there is nothing to write.
func (d *Desired) exists() bool {
	pages, metadata := d.layout(), newMetadata(d.Present)

	return hold(d.existing, pages) && !slices.ContainsFunc(pages, func(page desiredPage) bool { return !d.upToDate(&page, &metadata) })
}

// upToDate reports whether a page exists and is as it is to be. A page that holds the right clusters may still lack a label, or list them in
// the wrong way: no list at all, another order, a reason.
func (d *Desired) upToDate(page *desiredPage, metadata *metadata) bool {
	return page.current != nil && page.current.Scheduler == d.Form.Scheduler() && metadata.matches(page.current.Page, page.group) && d.says(page)
}

// says reports whether a page that exists says what it is to say.
func (d *Desired) says(page *desiredPage) bool {
	decisions := page.current.Decisions

	// An absent list is not the same as an empty one: consumers rely on its presence.
	if page.absent != (decisions == nil) || !page.holdsItsClusters() {
		return false
	}

	for i, id := range page.clusters {
		if decisions[i] != d.decide(id) {
			return false
		}
	}

	return true
}

// plannedWrite is a Write with what it does to the clusters.
type plannedWrite struct {
	Write

	// state is the page on its way; nil when the page keeps its clusters.
	state *pageState
	// gains are the clusters in the page after the write.
	gains []int32
}

// writes are the writes and deletes that lead to the pages.
func (d *Desired) writes(pages []desiredPage) (writes []Write, deletes []*record.Page) {
	var planned []plannedWrite

	metadata, order := newMetadata(d.Present), newWriteOrder(d.existing, pages, d.groupLength)

	if order != nil {
		for _, step := range order.run() {
			planned = append(planned, d.write(step, &metadata))
		}
	}

	for i := range pages {
		if page := &pages[i]; !page.written && !d.upToDate(page, &metadata) {
			planned = append(planned, plannedWrite{Write: d.newWrite(page, d.decisionsIn(page), &metadata)})
		}
	}

	if order == nil {
		return withoutTouches(planned), nil
	}

	gone := order.deletes()

	for _, p := range gone {
		page := &record.Page{ObjectMeta: metav1.ObjectMeta{Namespace: d.Placement.Namespace, Name: p.name}}
		if p.current != nil {
			page = p.current.Page
		}

		deletes = append(deletes, page)
	}

	return withTouches(order, planned, gone), deletes
}

// write is the write of a step.
func (d *Desired) write(step step, metadata *metadata) plannedWrite {
	p := step.state
	planned := plannedWrite{state: p}

	switch step.kind {
	case spill:
		planned.gains = step.waiting
		sortByScore(planned.gains, d.scores)
		planned.Write = d.newWrite(&desiredPage{name: p.name, group: p.group, current: p.current}, d.decisionsOf(planned.gains), metadata)
	case empty:
		planned.Write = Write{Current: p.current.Page, Desired: emptied(p.current.Page), UpdateDecisions: true}
	case drop:
		planned.Write = Write{Current: p.current.Page, Desired: emptied(p.current.Page), Delete: true}
	default:
		p.page.written, planned.gains = true, p.page.clusters
		page := *p.page

		if page.renamed() && len(page.current.Decisions) > 0 {
			current := *page.current
			current.Page, page.current = emptied(current.Page), &current
		}

		planned.Write = d.newWrite(&page, d.decisionsIn(&page), metadata)
	}

	return planned
}

// emptied is a page without its decisions.
func emptied(page *record.Page) *record.Page {
	empty := *page
	empty.Decisions = []record.Decision{}

	return &empty
}

// decisionsIn are the decisions that a page is to have; nil when it is to have no list.
func (d *Desired) decisionsIn(page *desiredPage) []record.Decision {
	if page.absent {
		return nil
	}

	return d.decisionsOf(page.clusters)
}

// newWrite is the write that gives a page these decisions and its metadata.
func (d *Desired) newWrite(page *desiredPage, decisions []record.Decision, metadata *metadata) Write {
	if page.current == nil {
		desired := &record.Page{ObjectMeta: metadata.apply(page.name, page.group, metav1.ObjectMeta{}), Decisions: decisions}

		return Write{Desired: desired, Create: true, UpdateDecisions: decisions != nil}
	}

	current, renamed := page.current.Page, page.renamed()
	desired := &record.Page{ObjectMeta: metadata.apply(page.name, page.group, current.ObjectMeta), Decisions: decisions}

	if renamed {
		desired.Annotations = map[string]string{groupNameAnnotation: page.group.Name}
	}

	return Write{
		Current: current, Desired: desired, UpdateMetadata: renamed || !metadata.matches(current, page.group),
		UpdateDecisions: (current.Decisions == nil) != (decisions == nil) || !slices.Equal(current.Decisions, decisions) ||
			current.Scheduler != d.Form.Scheduler(),
	}
}

// describe tells the groups of so many pages, which come by group, and how many clusters are in them. The function returns of each page its
// group, its name and the number of its clusters.
func describe(pages int, page func(i int) (group record.Group, name string, clusters int)) (groups []record.GroupStatus, selected int) {
	names := make([]string, 0, pages)
	start := 0

	for i := range pages {
		group, name, clusters := page(i)
		selected += clusters

		last := len(groups) - 1
		if last < 0 || groups[last].Group != group {
			groups = append(groups, record.GroupStatus{Group: group})
			last, start = last+1, len(names)
		}

		names = append(names, name)
		groups[last].Pages = names[start:len(names):len(names)]
		groups[last].Clusters += clusters
	}

	return groups, selected
}
