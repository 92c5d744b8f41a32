// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// touchedForAnnotation is on a page that was touched: written only to change its resourceVersion. It has the names and versions of the
// pages that rely on the touched page, so that a repeated plan need not touch it again.
//
// A page may give a staying cluster away because another page has the cluster. If two processes did that at the same time, with different
// views of the pages, each could rely on the page that the other process writes: no write would be rejected, because no page was written
// twice, and the cluster would be on no page.
//
// So the plan always writes the page that is relied on first. Another process that removes the cluster from that page has either seen this
// write, and has then written the giving page before, so that the write of the giving page is rejected; or it has not seen the write, and
// is rejected itself. Mostly the plan has written that page anyway, because it gains the cluster. Where both pages had the cluster from the
// start, after an interrupted plan or a plan of another process, the page is touched: written without a change of its decisions. A touch is
// valid as long as the page that relies on it has not changed: a process that has seen the touch has not written that page since.
//
// The annotation is named "confirmed" as in the releases before: another name would have every page touched again after an upgrade.
const touchedForAnnotation = "placement-hub.open-cluster-management.io/confirmed"

// withoutTouches returns the writes of a plan in which no page gives a cluster away.
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

// withTouches adds the touches that the writes and deletions need. Both are in the order in which they are applied.
func withTouches(order *writeOrder, planned []plannedWrite, deletes []*pageState) []Write {
	t := newTouchPlan(order, planned, deletes)
	if t == nil {
		return withoutTouches(planned)
	}
	writes := make([]Write, 0, len(planned)+1)

	for i := range planned {
		name := planned[i].Desired.Name
		writes = append(append(writes, t.touchesFor(name, planned[i].losses())...), planned[i].Write)
		t.written[name] = true
		for _, id := range planned[i].gains {
			if names, given := t.pages[id]; given && !slices.Contains(names, name) {
				t.pages[id] = append(names, name)
			}
		}
	}

	for _, p := range deletes {
		writes = append(writes, t.touchesFor(p.name, p.clusters())...)
	}
	return writes
}

// losses returns the clusters that the write removes from an existing page, in the order of the page.
func (w *plannedWrite) losses() []int32 {
	if w.state == nil || len(w.state.lost) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.state.clusters()), func(id int32) bool { return !w.state.loses(id) })
}

// clusters returns the clusters of the existing page, in its order.
func (p *pageState) clusters() []int32 {
	if p.current == nil {
		return nil
	}
	return p.current.clusters
}

// touchPlan tracks, for the staying clusters that some page gives away, the pages that have them while the plan is applied.
type touchPlan struct {
	order *writeOrder
	// pages has the names of the pages that have such a cluster, by its id.
	pages map[int32][]string
	// written has the pages that the plan has written so far.
	written map[string]bool
	// current has the existing writable pages by name.
	current map[string]*api.Page
}

// newTouchPlan returns nil when no page gives away a cluster that stays.
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
	t := &touchPlan{
		order: order, pages: map[int32][]string{}, written: map[string]bool{}, current: make(map[string]*api.Page, len(order.Pages)),
	}

	for i := range order.writable() {
		page := &order.pageIndex.pages[i]
		t.current[page.Name] = page.Page
		for _, id := range page.clusters {
			if given[id] {
				t.pages[id] = append(t.pages[id], page.Name)
			}
		}
	}
	return t
}

// touchesFor returns touches of the pages that the giving page relies on when it gives these clusters away.
func (t *touchPlan) touchesFor(giver string, clusters []int32) []Write {
	var touches []Write
	for _, id := range clusters {
		others, stays := t.pages[id]
		if !stays {
			continue
		}
		others = slices.DeleteFunc(others, func(name string) bool { return name == giver })

		t.pages[id] = others
		if len(others) == 0 || slices.ContainsFunc(others, func(name string) bool { return t.written[name] || t.isTouchedFor(name, giver) }) {
			continue
		}
		relied := others[0]
		if keeper := t.order.occupant(id).to.name; slices.Contains(others, keeper) {
			relied = keeper
		}
		touches = append(touches, t.touch(t.current[relied], giver))
		t.written[relied] = true
	}

	return touches
}

// isTouchedFor reports whether a page was touched for the current version of the giving page.
func (t *touchPlan) isTouchedFor(name, giver string) bool {
	relied, relies := t.current[name], t.current[giver]
	return relied != nil && relies != nil && slices.Contains(touchedFor(relied), pageVersion(relies))
}

// touchedFor returns the pages, with their versions, for which a page was touched.
func touchedFor(page *api.Page) []string {
	return strings.FieldsFunc(page.Annotations[touchedForAnnotation], func(r rune) bool { return r == ',' })
}

func pageVersion(page *api.Page) string { return page.Name + "@" + page.ResourceVersion }

// touch returns a write of an otherwise unchanged page for a page that relies on it.
func (t *touchPlan) touch(current *api.Page, giver string) Write {
	relying := slices.DeleteFunc(touchedFor(current), func(earlier string) bool {
		name, _, _ := strings.Cut(earlier, "@")
		page := t.current[name]
		return page == nil || pageVersion(page) != earlier
	})
	desired := *current
	desired.ObjectMeta = metav1.ObjectMeta{
		Namespace: current.Namespace, Name: current.Name, UID: current.UID, ResourceVersion: current.ResourceVersion, Labels: current.Labels,
		OwnerReferences: current.OwnerReferences, Annotations: maps.Clone(current.Annotations),
	}
	metav1.SetMetaDataAnnotation(&desired.ObjectMeta, touchedForAnnotation, strings.Join(append(relying, pageVersion(t.current[giver])), ","))

	return Write{Current: current, Desired: &desired, Touch: true}
}
