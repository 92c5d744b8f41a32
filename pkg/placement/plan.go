// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Write is a write of a page. A page is written twice when it changes its group name: it is emptied, and then renamed and filled.
type Write struct {
	// Current is the PlacementDecision before this write: as it was when the plan was made, or empty after the plan has emptied it. It is
	// nil when the plan creates the page.
	Current *api.Page
	// Desired is the PlacementDecision after this write.
	Desired *api.Page
	// Create reports whether the page does not exist, UpdateMetadata whether labels or owners differ, and UpdateDecisions whether the
	// decisions differ.
	Create, UpdateMetadata, UpdateDecisions bool
	// Touch reports whether the page is written only to change its resourceVersion (see withTouches).
	Touch bool
	// Delete reports whether the page is deleted, because its group makes room for another group at the same index later in the plan.
	Delete bool
}

// Plan has the writes for a Placement in a safe order: all Writes, then the status of the Placement, then all Deletes.
type Plan struct {
	// Codec is the format of the pages.
	Codec api.Codec
	// Writes are in an order in which no staying cluster is ever missing from all pages (see writeOrder).
	Writes []Write
	// Deletes are surplus pages in a safe order. A page that the plan itself creates has a name and no uid.
	Deletes []*api.Page
	// Groups are the groups of the remaining pages, in the order of their indices; Selected is the number of their decisions.
	Groups   []api.GroupStatus
	Selected int
	// ScoresAt is the time of the last update of the scores; nil when the decisions have none.
	ScoresAt *metav1.Time
	// RequeueAt is the time at which there may be more to write without an event; zero means never.
	RequeueAt time.Time
	// Requeue reports whether there is more to write after the plan was applied, because a page name has to become free first.
	Requeue bool
}

// Empty reports whether there is nothing to write.
func (p Plan) Empty() bool { return len(p.Writes) == 0 && len(p.Deletes) == 0 }

// NewPlan returns the plan from the existing pages to the desired decisions of a Result at a time.
func NewPlan(result *scheduling.Result, existing Existing, now metav1.Time) Plan {
	last := existing.Placement.Status.LastScoreUpdate
	if !result.Applies() {
		desired := NewDesired(result, existing, now.Time)
		plan := desired.Plan()
		plan.ScoresAt = last
		return plan
	}

	selection := newSelection(result, existing)
	sorted, due := scoreUpdate(result, existing, now.Time)
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

// resorts reports whether an update of the scores would write anything.
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

// wholeSecond returns the time as an API server stores it. It is rounded up, so that the interval after it does not end early.
func wholeSecond(t metav1.Time) *metav1.Time {
	rounded := metav1.NewTime(t.Truncate(time.Second))
	if rounded.Time.Before(t.Time) {
		rounded.Time = rounded.Add(time.Second)
	}
	return &rounded
}

// Plan returns the plan from the existing pages to the desired decisions. Where the decisions are kept, it creates an empty page only if
// there is none, and no page for a Placement whose name is no label value (docs/spec/differences.md A1, A2).
func (d *Desired) Plan() Plan {
	pages := d.layout()
	plan := Plan{Codec: d.Codec}
	plan.Groups, plan.Selected = describe(len(pages), func(i int) (api.Group, string, int) {
		return pages[i].group, pages[i].name, len(pages[i].clusters)
	})
	plan.Selected += d.outside(pages)
	plan.Writes, plan.Deletes = d.writes(pages)
	plan.Writes = append(plan.Writes, d.withdrawals()...)
	plan.Requeue = !d.keep && len(pages) == 1 && pages[0].number != 1 && !d.Taken[PageName(d.Placement.Name, 1)]
	return plan
}

// outside returns the number of desired clusters that only terminating pages have.
func (d *Desired) outside(pages []desiredPage) int {
	if len(d.terminating) == 0 {
		return 0
	}
	defer clear(d.scratch)
	for i := range pages {
		for _, id := range pages[i].clusters {
			d.scratch[id] = 1
		}
	}

	count := 0
	for i := range d.terminatingPages() {
		for _, id := range d.terminatingPages()[i].clusters {
			if d.isDesired(id) && d.scratch[id] == 0 {
				d.scratch[id] = 1
				count++
			}
		}
	}
	return count
}

// withdrawals returns the writes that take clusters which are not desired off terminating pages, which finalizers may keep for long. The other
// clusters stay there: the plan has put them on further pages.
func (d *Desired) withdrawals() []Write {
	var writes []Write
	for i := range d.terminatingPages() {
		page := &d.terminatingPages()[i]
		if !slices.ContainsFunc(page.clusters, func(id int32) bool { return !d.isDesired(id) }) {
			continue
		}
		desired := emptied(page.Page)
		for n, id := range page.clusters {
			if d.isDesired(id) {
				desired.Decisions = append(desired.Decisions, page.Decisions[n])
			}
		}
		writes = append(writes, Write{Current: page.Page, Desired: desired, UpdateDecisions: true})
	}

	return writes
}

// layout divides the desired clusters into pages.
func (d *Desired) layout() []desiredPage {
	switch {
	case !d.keep:
		return d.paginate(d.groups(d.partitions, d.groupLength), d.sorted)
	case len(d.Pages) > 0:
		return d.kept()
	case isLabelValue(d.Placement.Name):
		// The clusters on terminating pages are kept on new pages.
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
	pages, metadata := d.layout(), newMetadata(d.Existing)
	return unchanged(d.pageIndex, pages) && !slices.ContainsFunc(pages, func(page desiredPage) bool { return !d.upToDate(&page, &metadata) })
}

// upToDate reports whether a page exists and need not be written. A page with the right clusters may still lack a label, or differ in its
// list: no list at all, another order, a reason.
func (d *Desired) upToDate(page *desiredPage, metadata *metadata) bool {
	return page.current != nil && page.current.Scheduler == d.Codec.Scheduler() &&
		metadata.matches(page.current.Page, page.group) && d.hasDecisions(page)
}

// hasDecisions reports whether an existing page has the desired decisions.
func (d *Desired) hasDecisions(page *desiredPage) bool {
	decisions := page.current.Decisions

	// An absent list differs from an empty list: consumers rely on its presence.
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

// plannedWrite is a Write with its effect on the clusters.
type plannedWrite struct {
	Write

	// state is the state of the page; nil when the page keeps its clusters.
	state *pageState
	// gains are the clusters of the page after the write.
	gains []int32
}

// writes returns the writes and deletions that lead to the desired pages.
func (d *Desired) writes(pages []desiredPage) (writes []Write, deletes []*api.Page) {
	var planned []plannedWrite
	metadata, order := newMetadata(d.Existing), newWriteOrder(d.pageIndex, pages, d.groupLength)
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
		page := &api.Page{ObjectMeta: metav1.ObjectMeta{Namespace: d.Placement.Namespace, Name: p.name}}
		if p.current != nil {
			page = p.current.Page
		}
		deletes = append(deletes, page)
	}

	return withTouches(order, planned, gone), deletes
}

// write returns the write of a step.
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

// emptied returns a copy of a page without its decisions.
func emptied(page *api.Page) *api.Page {
	empty := *page
	empty.Decisions = []api.Decision{}
	return &empty
}

// decisionsIn returns the desired decisions of a page; nil when it has no list.
func (d *Desired) decisionsIn(page *desiredPage) []api.Decision {
	if page.absent {
		return nil
	}
	return d.decisionsOf(page.clusters)
}

// newWrite returns the write that gives a page these decisions and its metadata.
func (d *Desired) newWrite(page *desiredPage, decisions []api.Decision, metadata *metadata) Write {
	if page.current == nil {
		desired := &api.Page{ObjectMeta: metadata.apply(page.name, page.group, metav1.ObjectMeta{}), Decisions: decisions}
		return Write{Desired: desired, Create: true, UpdateDecisions: decisions != nil}
	}
	current, renamed := page.current.Page, page.renamed()
	desired := &api.Page{ObjectMeta: metadata.apply(page.name, page.group, current.ObjectMeta), Decisions: decisions}
	if renamed {
		desired.Annotations = map[string]string{groupNameAnnotation: page.group.Name}
	}
	return Write{
		Current: current, Desired: desired, UpdateMetadata: renamed || !metadata.matches(current, page.group),
		UpdateDecisions: (current.Decisions == nil) != (decisions == nil) || !slices.Equal(current.Decisions, decisions) ||
			current.Scheduler != d.Codec.Scheduler(),
	}
}
