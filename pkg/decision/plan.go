package decision

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// groupNameAnnotation is on a page that has changed its group name, and is that name. It is written together with the label, so that who
// reads the page before the status of the placement tells of the change does not put the old name back.
const groupNameAnnotation = "placement-hub.open-cluster-management.io/group-name"

// Write is one step of a page. A page is written twice when it changes its group name: it is emptied, and then renamed and filled.
type Write struct {
	// Current is the PlacementDecision as it is before this step: as it was when the plan was made, but empty once the plan has emptied it.
	// It is nil when the plan itself creates it.
	Current *record.Page
	// Desired is what it is to become by this step.
	Desired *record.Page
	// Create says that the page does not exist, Mend that labels or owners of ours are wrong, Fill that the decisions are.
	Create, Mend, Fill bool
	// Confirm says that nothing of it is wrong, and it is written for its resourceVersion (see confirmed).
	Confirm bool
	// Delete says that the page is deleted: its group makes room for another one at the same index, which comes later in the plan.
	Delete bool
}

// Plan is what to write for a placement, in a safe order: all Writes, then the status of the Placement, then all Deletes.
type Plan struct {
	// Form is how the pages are written.
	Form record.Form
	// Writes are in an order in which no cluster that stays is ever missing from all pages (see sequence).
	Writes []Write
	// Deletes are surplus pages in a safe order. One that the plan itself creates has a name and no uid.
	Deletes []*record.Page
	// Groups describe the pages that stay, in the order of their indexes; Selected is how many decisions they have.
	Groups   []record.GroupStatus
	Selected int
	// ScoresAt is when the scores of the decisions were brought up to date; nil when there are none.
	ScoresAt *metav1.Time
	// WakeAt is when there is more to write although nothing changes; zero means never.
	WakeAt time.Time
	// Again says that there is more to do once the plan is carried out: a name has to become free first.
	Again bool
}

// Empty reports whether there is nothing to write.
func (p Plan) Empty() bool { return len(p.Writes) == 0 && len(p.Deletes) == 0 }

// NewPlan compares the answer of an engine with what exists at a time.
func NewPlan(result *scheduling.Result, present Present, now metav1.Time) Plan {
	return newPlan(result, present, now, look(result, present))
}

// newPlan uses a glance for what it knows, and makes the whole answer for what it does not.
func newPlan(result *scheduling.Result, present Present, now metav1.Time, glance *glance) Plan {
	sorted, due := schedule(result, present, now.Time)

	plan, known := glance.plan(sorted)
	if !known {
		answer := NewAnswer(result, present, now.Time)
		plan = answer.Plan(present)
	}

	last := present.Placement.Status.LastScoreUpdate

	switch {
	case result.Held():
		plan.ScoresAt = last
	case result.Request.Order != scheduling.ByScore:
	case sorted && (last == nil || !plan.Empty()):
		plan.ScoresAt = wholeSecond(now)
	default:
		plan.ScoresAt = last

		if !sorted && resorts(result, present, due, glance) {
			plan.WakeAt = due
		}
	}

	return plan
}

// resorts reports whether there is something to write when the scores may be brought up to date.
func resorts(result *scheduling.Result, present Present, due time.Time, glance *glance) bool {
	if glance != nil {
		plan, known := glance.plan(true)

		return !known || !plan.Empty()
	}

	if !present.holds(result.Selected) {
		return true // Who comes or goes has to be written at any time.
	}

	later := NewAnswer(result, present, due)

	return !later.Plan(present).Empty()
}

// wholeSecond is the time as an API server keeps it. It is rounded up, so that what waits for the interval after it waits long enough.
func wholeSecond(t metav1.Time) *metav1.Time {
	rounded := metav1.NewTime(t.Truncate(time.Second))
	if rounded.Time.Before(t.Time) {
		rounded.Time = rounded.Add(time.Second)
	}

	return &rounded
}

// Plan compares the answer with what exists. A held one keeps the decisions there are, and makes an empty page only where there is none;
// a placement whose name cannot stand in a label gets none at all (docs/spec/differences.md A1, A2).
func (a *Answer) Plan(present Present) Plan {
	var pages []Page

	switch {
	case !a.Held:
		pages = Paginate(present, Groups(a.Portions, a.Length, present), a.sorted)
	case len(present.Pages) > 0:
		pages = keep(present)
	case labelFits(present.Placement.Name):
		// What stands in pages that are being deleted is kept in new ones.
		kept := slices.Sorted(maps.Keys(present.Incumbents()))
		pages = Paginate(present, Groups([]Portion{{Clusters: kept}}, max(len(kept), 1), present), false)
	}

	plan := Plan{Form: present.Form}
	plan.Groups, plan.Selected = describe(pages)
	plan.Writes, plan.Deletes = a.stepsTo(present, pages)
	first := PageName(present.Placement.Name, 1)
	plan.Again = !a.Held && len(pages) == 1 && pages[0].Name != first && !present.Taken[first]

	return plan
}

// stepsTo are the writes and deletes that lead to the pages.
func (a *Answer) stepsTo(present Present, pages []Page) (writes []Write, deletes []*record.Page) {
	sequence := newSequence(present, pages, a.Length)
	written := map[string]bool{}

	for _, move := range sequence.run() {
		writes = append(writes, a.step(present, move))
		written[move.slot.name] = true
	}

	// What holds the right clusters may still lack a label, or say it in the wrong way: no list at all, another order, a reason.
	marks := newMarks(present)

	for _, page := range pages {
		if written[page.Name] || marks.on(page) && a.says(page) {
			continue
		}

		if write := newWrite(present, page, a.decisions(page.Clusters)); write.Mend || write.Fill {
			writes = append(writes, write)
		}
	}

	for _, gone := range sequence.deletes() {
		page := gone.current
		if page == nil {
			page = &record.Page{ObjectMeta: metav1.ObjectMeta{Namespace: present.Placement.Namespace, Name: gone.name}}
		}

		deletes = append(deletes, page)
	}

	return confirmed(present, pages, writes, deletes), deletes
}

// step is the write of a move.
func (a *Answer) step(present Present, move move) Write {
	slot := move.slot

	switch move.kind {
	case park:
		page := Page{Name: slot.name, Group: slot.group, Current: slot.current}

		return newWrite(present, page, a.decisions(a.sort(move.waiting)))
	case empty:
		return Write{Current: slot.current, Desired: emptied(slot.current), Fill: true}
	case drop:
		return Write{Current: slot.current, Desired: emptied(slot.current), Delete: true}
	default:
		page := *slot.page
		if page.renamed(present) && len(page.Current.Decisions) > 0 {
			page.Current = emptied(page.Current)
		}

		return newWrite(present, page, a.decisions(page.Clusters))
	}
}

// emptied is a page without its decisions.
func emptied(page *record.Page) *record.Page {
	empty := *page
	empty.Decisions = []record.Decision{}

	return &empty
}

// says reports whether a page that exists says what it is to say.
func (a *Answer) says(page Page) bool {
	// An absent list is not the same as an empty one: consumers rely on its presence.
	return (page.Clusters == nil) == (page.Current.Decisions == nil) &&
		slices.EqualFunc(page.Current.Decisions, page.Clusters, func(d record.Decision, cluster string) bool { return d == a.Say[cluster] })
}

// keep takes every page as it is, to mend what of it is known whatever the answer.
func keep(present Present) []Page {
	pages := make([]Page, 0, len(present.Pages))

	for _, current := range present.Pages {
		page := Page{Name: current.Name, Group: present.groupOf(current), Current: current}
		if current.Decisions != nil {
			page.Clusters = current.Clusters()
		}

		pages = append(pages, page)
	}

	slices.SortStableFunc(pages, func(a, b Page) int {
		return cmp.Or(cmp.Compare(a.Group.Index, b.Group.Index), cmp.Compare(a.Group.Name, b.Group.Name))
	})

	return pages
}

func newWrite(present Present, page Page, decisions []record.Decision) Write {
	current := page.Current
	if current == nil {
		current = &record.Page{}
	}

	desired := &record.Page{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: present.Placement.Namespace, Name: page.Name, UID: current.UID, ResourceVersion: current.ResourceVersion,
			Labels:          labels(present, page.Group, current.Labels),
			OwnerReferences: owners(present.Form, present.Placement, current.OwnerReferences),
		},
		Decisions: decisions,
	}

	renamed := page.renamed(present)
	if renamed {
		desired.Annotations = map[string]string{groupNameAnnotation: page.Group.Name}
	}

	return Write{
		Current: page.Current, Desired: desired, Create: page.Current == nil,
		Mend: page.Current != nil && (renamed || !maps.Equal(current.Labels, desired.Labels) ||
			!equality.Semantic.DeepEqual(current.OwnerReferences, desired.OwnerReferences)),
		Fill: (current.Decisions == nil) != (decisions == nil) || !slices.Equal(current.Decisions, decisions) ||
			page.Current != nil && current.Scheduler != present.Form.Scheduler(),
	}
}

// labels are those of the form beside the present ones of others.
func labels(present Present, group record.Group, others map[string]string) map[string]string {
	labels := present.Form.Labels(present.Placement.Name, group)

	for key, value := range others {
		if _, ours := labels[key]; !ours {
			labels[key] = value
		}
	}

	return labels
}

func describe(pages []Page) (groups []record.GroupStatus, selected int) {
	for _, page := range pages {
		selected += len(page.Clusters)

		last := len(groups) - 1
		if last < 0 || groups[last].Group != page.Group {
			groups = append(groups, record.GroupStatus{Group: page.Group})
			last++
		}

		groups[last].Pages = append(groups[last].Pages, page.Name)
		groups[last].Clusters += len(page.Clusters)
	}

	return groups, selected
}
