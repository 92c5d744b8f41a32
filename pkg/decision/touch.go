package decision

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// touchedForAnnotation is on a page that was touched: written for its resourceVersion to change, and nothing else. It names the pages that
// rely on the touched one, with the versions they had then, so that a plan that is tried again need not touch it again.
const touchedForAnnotation = "placement-hub.open-cluster-management.io/confirmed"

// A page may give a staying cluster away because the cluster is in another page. If two processes did that at the same time, each with another
// view of the clusters, each could rely on the page that the other one writes: no write would be refused, because no page was written
// twice, and the cluster would be in no page.
//
// So the page that is relied on is always written first, by the same plan. A process that wants to take the cluster out of that page has either
// seen this write, and then writes the page that gives the cluster away before, which refuses ours, or has not seen it, and is refused.
// Mostly the plan has written that page anyway, because it gains the cluster. Where the cluster was in both pages from the start, which is
// what a plan leaves that was cut off, or a rival, the page is touched: written without a change of its decisions. A touch holds as long as
// the page that relies on it has not changed: a process that has seen the touch since has not written that page.

// withoutTouches are the writes of a plan in which no page gives a cluster away.
func withoutTouches(planned []plannedWrite) []Write {
	if len(planned) == 0 {
		return nil
	}

	writes := make([]Write, 0, len(planned))
	for i := range planned {
		writes = append(writes, planned[i].Write)
	}

	return writes
}

// withTouches adds the touches that the writes and deletes need. Both are in the order in which they are carried out.
func withTouches(order *writeOrder, planned []plannedWrite, deletes []*pageState) []Write {
	s := newTouchPlan(order, planned, deletes)
	if s == nil {
		return withoutTouches(planned)
	}

	writes := make([]Write, 0, len(planned)+1)

	for i := range planned {
		name := planned[i].Desired.Name
		writes = append(append(writes, s.touchesFor(name, planned[i].losses())...), planned[i].Write)
		s.written[name] = true

		for _, id := range planned[i].gains {
			if names, given := s.pages[id]; given && !slices.Contains(names, name) {
				s.pages[id] = append(names, name)
			}
		}
	}

	for _, p := range deletes {
		writes = append(writes, s.touchesFor(p.name, p.clusters())...)
	}

	return writes
}

// losses are the clusters that a page which exists has no more after the write, in the order of the page.
func (w *plannedWrite) losses() []int32 {
	if w.state == nil || len(w.state.lost) == 0 {
		return nil
	}

	return slices.DeleteFunc(slices.Clone(w.state.clusters()), func(id int32) bool { return !w.state.loses(id) })
}

// clusters are the clusters in the page as it exists, in its order.
func (p *pageState) clusters() []int32 {
	if p.current == nil {
		return nil
	}

	return p.current.clusters
}

// touchPlan is in which pages the clusters are, on the way, that some page gives away and that stay.
type touchPlan struct {
	order *writeOrder
	// pages are the names of the pages that hold such a cluster, by its id.
	pages map[int32][]string
	// written are the pages that the plan has written by then.
	written map[string]bool
	// current are the existing pages that can be written, by name.
	current map[string]*record.Page
}

// newTouchPlan is nil when no page gives away a cluster that stays.
func newTouchPlan(order *writeOrder, planned []plannedWrite, deletes []*pageState) *touchPlan {
	given := make([]bool, order.ids())
	found := false

	give := func(ids []int32) {
		for _, id := range ids {
			if order.occupant(id).stays() {
				given[id], found = true, true
			}
		}
	}

	for i := range planned {
		if p := planned[i].state; p != nil {
			give(p.lost)
		}
	}

	for _, p := range deletes {
		give(p.clusters())
	}

	if !found {
		return nil
	}

	s := &touchPlan{
		order: order, pages: map[int32][]string{}, written: map[string]bool{}, current: make(map[string]*record.Page, len(order.Pages)),
	}

	for i := range order.writable() {
		page := &order.existing.pages[i]
		s.current[page.Name] = page.Page

		for _, id := range page.clusters {
			if given[id] {
				s.pages[id] = append(s.pages[id], page.Name)
			}
		}
	}

	return s
}

// touchesFor touches the pages that a page relies on when it gives these clusters away.
func (s *touchPlan) touchesFor(giver string, clusters []int32) []Write {
	var touches []Write

	for _, id := range clusters {
		others, stays := s.pages[id]
		if !stays {
			continue
		}

		others = slices.DeleteFunc(others, func(name string) bool { return name == giver })

		s.pages[id] = others
		if len(others) == 0 || slices.ContainsFunc(others, func(name string) bool { return s.written[name] || s.isTouchedFor(name, giver) }) {
			continue
		}

		relied := others[0]
		if keeper := s.order.occupant(id).to.name; slices.Contains(others, keeper) {
			relied = keeper
		}

		touches = append(touches, s.touch(s.current[relied], giver))
		s.written[relied] = true
	}

	return touches
}

// isTouchedFor reports whether a page was touched for another one as that is now.
func (s *touchPlan) isTouchedFor(name, giver string) bool {
	relied, relies := s.current[name], s.current[giver]

	return relied != nil && relies != nil && slices.Contains(touchedFor(relied), pageVersion(relies))
}

// touchedFor are the pages, with their versions, that a page was touched for.
func touchedFor(page *record.Page) []string {
	return strings.FieldsFunc(page.Annotations[touchedForAnnotation], func(r rune) bool { return r == ',' })
}

func pageVersion(page *record.Page) string { return page.Name + "@" + page.ResourceVersion }

// touch writes a page that the plan has not written, as it is, for a page that relies on it.
func (s *touchPlan) touch(current *record.Page, giver string) Write {
	relying := slices.DeleteFunc(touchedFor(current), func(earlier string) bool {
		name, _, _ := strings.Cut(earlier, "@")
		page := s.current[name]

		return page == nil || pageVersion(page) != earlier
	})
	desired := *current
	desired.ObjectMeta = metav1.ObjectMeta{
		Namespace: current.Namespace, Name: current.Name, UID: current.UID, ResourceVersion: current.ResourceVersion, Labels: current.Labels,
		OwnerReferences: current.OwnerReferences, Annotations: maps.Clone(current.Annotations),
	}
	metav1.SetMetaDataAnnotation(&desired.ObjectMeta, touchedForAnnotation, strings.Join(append(relying, pageVersion(s.current[giver])), ","))

	return Write{Current: current, Desired: &desired, Touch: true}
}
