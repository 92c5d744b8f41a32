package placement

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/decision/removalbudget"
)

// warnOfHold sends an event when the status begins to report a blocked removal.
func (r *cycleRecorder) warnOfHold(p *cycle) {
	if p.holdBegins() {
		r.recorder.Eventf(r.placement, nil, corev1.EventTypeWarning, removalbudget.Condition, "DecisionsKept", "%s; they are kept: see the condition %s",
			p.Removal.Summary(), removalbudget.Condition)
	}
}

// warnOfLosses sends an event when the pages have lost more than a percentage of their clusters, for whatever cause.
func (r *cycleRecorder) warnOfLosses(before decision.Existing, percent int) {
	if len(r.done) == 0 || percent >= removalbudget.NoLimit || !r.mayLose(before.Pages, percent) {
		return
	}

	lost, all := lost(before.Pages, r.after(before.Pages), r.edited)
	if len(lost)*removalbudget.NoLimit > percent*all {
		r.recorder.Eventf(r.placement, nil, corev1.EventTypeWarning, "ManyClustersRemoved", "ClustersRemoved",
			"The decisions lost %d of %d clusters: %s", len(lost), all, removalbudget.Name(lost))
	}
}

// mayLose reports whether the changed pages had so many clusters, which is cheap to check and mostly false.
func (r *cycleRecorder) mayLose(before []*api.Page, percent int) bool {
	touched, all := 0, 0

	for _, page := range before {
		all += len(page.Decisions)

		if slices.ContainsFunc(r.done, func(done pageChange) bool {
			return slices.ContainsFunc(done.pages, func(other *api.Page) bool { return other.Name == page.Name })
		}) {
			touched += len(page.Decisions)
		}
	}

	return touched*removalbudget.NoLimit > percent*all
}

// after returns the pages after the changes.
func (r *cycleRecorder) after(before []*api.Page) []*api.Page {
	pages := make(map[string]*api.Page, len(before))
	for _, page := range before {
		pages[page.Name] = page
	}

	for _, reason := range []string{"Create", update, "Delete"} { // What is done to one page is done in this order.
		for _, done := range r.done {
			for _, page := range done.pages {
				switch {
				case done.reason != reason:
				case reason == "Delete":
					delete(pages, page.Name)
				default:
					pages[page.Name] = page
				}
			}
		}
	}

	return slices.Collect(maps.Values(pages))
}

// lost returns, by name, the clusters that were in a page and are in none any more, and how many there were. Clusters that only a page had
// that others edited are not counted: the hub may never have selected them.
func lost(before, after []*api.Page, edited map[string]bool) (lost []string, all int) {
	own := slices.DeleteFunc(slices.Clone(before), func(page *api.Page) bool { return edited[page.Name] })
	was, is := members(own), members(after)

	for cluster := range members(before) {
		if is[cluster] {
			was[cluster] = true
		}
	}

	all = len(was)
	maps.DeleteFunc(was, func(cluster string, _ bool) bool { return is[cluster] })

	return slices.Sorted(maps.Keys(was)), all
}

func members(pages []*api.Page) map[string]bool {
	members := map[string]bool{}

	for _, page := range pages {
		for i := range page.Decisions {
			members[page.Decisions[i].Cluster] = true
		}
	}

	return members
}
