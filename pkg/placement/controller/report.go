// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// longestScores is where the list of scores in an event is cut, in bytes.
	longestScores = 1000
	// component is who events are from.
	component = "placement-controller"
	// decisionKind is what every API calls its decisions.
	decisionKind = "PlacementDecision"
	// pagesNamed is how many pages one event names.
	pagesNamed = 5
)

// recorders sends events about the decisions of a Placement (docs/spec/upstream-placement.md 1.12).
type recorders struct {
	recorder events.EventRecorder
}

// cycleRecorder sends the events of one reconcile. Those about pages are one for each kind of change, with all pages that it concerns.
type cycleRecorder struct {
	recorder  events.EventRecorder
	placement *corev1.ObjectReference
	result    *scheduling.Result
	changes   *pageChanges
}

// forCycle returns the recorder of one reconcile.
func (r recorders) forCycle(placement *api.Placement, result *scheduling.Result, changes *pageChanges) *cycleRecorder {
	owner := placement.API.Kind()
	return &cycleRecorder{
		recorder: r.recorder, result: result, changes: changes,
		placement: &corev1.ObjectReference{
			APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Namespace: placement.Namespace, Name: placement.Name,
			UID: placement.UID,
		},
	}
}

// pageEvent has the reason, after "Decision", and the verb of an event about pages.
type pageEvent struct{ reason, verb string }

// pageEvents are the events about the actions that have one.
var pageEvents = map[placement.Action]pageEvent{
	placement.ActionCreate:          {reason: "Create", verb: "created"},
	placement.ActionUpdateDecisions: {reason: "Update", verb: "updated"},
	placement.ActionDelete:          {reason: "Delete", verb: "deleted"},
}

// send sends the events about pages, in the order in which the first page of each was written. The creation of a page says that it has decisions: its
// update is an event if there is something to warn of.
func (r *cycleRecorder) send() {
	var actions []placement.Action
	pages, warns := map[placement.Action][]*api.Page{}, len(r.result.Warnings()) > 0
	for _, change := range r.changes.list {
		if _, reported := pageEvents[change.action]; !reported || change.silent {
			continue
		}
		created := func(page *api.Page) bool { return page.Name == change.page.Name }
		if change.action == placement.ActionUpdateDecisions && !warns && slices.ContainsFunc(pages[placement.ActionCreate], created) {
			continue
		}
		if len(pages[change.action]) == 0 {
			actions = append(actions, change.action)
		}

		// A page that is written several times is named once, by its last state.
		written := pages[change.action]
		if i := slices.IndexFunc(written, func(page *api.Page) bool { return page.Name == change.page.Name }); i >= 0 {
			written[i] = change.page
		} else {
			pages[change.action] = append(written, change.page)
		}
	}

	for _, action := range actions {
		r.sendAction(action, pages[action])
	}
}

func (r *cycleRecorder) sendAction(action placement.Action, pages []*api.Page) {
	event, related := pageEvents[action], r.related(pages[0])
	kind, note := corev1.EventTypeNormal, fmt.Sprintf("%s %s with placement %s in namespace %s",
		subject(pages), event.verb, r.placement.Name, r.placement.Namespace)
	if warnings := r.result.Warnings(); action == placement.ActionUpdateDecisions && len(warnings) > 0 {
		first := warnings[0]
		kind, note = corev1.EventTypeWarning, note+": "+first.Message+" in plugin "+first.Source
	}
	r.recorder.Eventf(r.placement, related, kind, "Decision"+event.reason, "Decision"+event.reason+"d", "%s", note)

	// Without a feasible cluster there are no scores.
	if action == placement.ActionUpdateDecisions && r.result.Outcome() == scheduling.Decided && r.result.Feasible() > 0 {
		r.recorder.Eventf(r.placement, related, corev1.EventTypeNormal, "ScoreUpdate", "ScoreUpdated", "%s",
			words(func() string { return scores(r.result) }))
	}
}

// warnOfHold sends an event about a removal that is held.
func (r *cycleRecorder) warnOfHold(summary string) {
	r.recorder.Eventf(r.placement, nil, corev1.EventTypeWarning, removalbudget.Condition, "DecisionsKept",
		"%s; they are kept: see the condition %s", summary, removalbudget.Condition)
}

// warnOfLosses sends an event when the pages have lost more than a percentage of their clusters, for whatever cause. Edited are the names
// of the pages that others had edited.
func (r *cycleRecorder) warnOfLosses(edited map[string]bool, percent int) {
	if len(r.changes.list) == 0 || percent >= removalbudget.NoLimit || !r.changes.mayLose(percent) {
		return
	}
	if lost, all := r.changes.lost(edited); exceeds(len(lost), all, percent) {
		r.recorder.Eventf(r.placement, nil, corev1.EventTypeWarning, "ManyClustersRemoved", "ClustersRemoved",
			"The decisions lost %d of %d clusters: %s", len(lost), all, removalbudget.Name(lost))
	}
}

// related returns a reference to a page.
func (r *cycleRecorder) related(page *api.Page) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: r.placement.APIVersion, Kind: decisionKind, Namespace: page.Namespace, Name: page.Name, UID: page.UID,
	}
}

// subject returns "Decision p-decision-1 is", or "Decisions p-decision-1, p-decision-2 and 82 more are".
func subject(pages []*api.Page) string {
	if len(pages) == 1 {
		return "Decision " + pages[0].Name + " is"
	}
	names := make([]string, 0, pagesNamed)
	for _, page := range pages[:min(len(pages), pagesNamed)] {
		names = append(names, page.Name)
	}
	if more := len(pages) - len(names); more > 0 {
		return fmt.Sprintf("Decisions %s and %d more are", strings.Join(names, ", "), more)
	}

	last := len(names) - 1
	return "Decisions " + strings.Join(names[:last], ", ") + " and " + names[last] + " are"
}

// words is a text that is rendered when it is needed.
type words func() string

// String renders the text.
func (w words) String() string { return w() }

// scores returns "c1:200 c2:145 " for the feasible clusters by name.
func scores(result *scheduling.Result) string {
	var text strings.Builder
	for info, score := range result.Scores() {
		number := strconv.FormatInt(score, 10)
		if text.Len()+len(info.Name)+len(number)+2 > longestScores {
			text.WriteString("......")
			break
		}
		text.WriteString(info.Name)
		text.WriteByte(':')
		text.WriteString(number)
		text.WriteByte(' ')
	}

	return text.String()
}

// pageChanges lists what a reconcile has written to the pages in the API of the Placement, in the order of the writes. The metrics of
// decisions, the events about pages and the warnings of losses are derived from it.
type pageChanges struct {
	before []*api.Page
	list   []pageChange
}

// pageChange is a written page, or the last state of a deleted one.
type pageChange struct {
	action placement.Action
	page   *api.Page
	// silent reports that no event is sent, because a list that is created without decisions changes nothing for clients.
	silent bool
}

func (c *pageChanges) add(change pageChange) { c.list = append(c.list, change) }

// after returns the pages as the changes have left them, in any order.
func (c *pageChanges) after() []*api.Page {
	pages := make(map[string]*api.Page, len(c.before))
	for _, page := range c.before {
		pages[page.Name] = page
	}

	for _, change := range c.list {
		if change.action == placement.ActionDelete {
			delete(pages, change.page.Name)
		} else {
			pages[change.page.Name] = change.page
		}
	}
	return slices.Collect(maps.Values(pages))
}

// count returns how many clusters the pages gained and lost, and how many others moved to another page.
func (c *pageChanges) count() (gained, lost, moved int) {
	before, after := map[string]string{}, map[string]string{}
	for _, page := range c.before {
		for i := range page.Decisions {
			before[page.Decisions[i].Cluster] = page.Name
		}
	}

	for _, page := range c.after() {
		for i := range page.Decisions {
			cluster := page.Decisions[i].Cluster
			if _, found := after[cluster]; !found || before[cluster] == page.Name { // After a failed write two pages can have it.
				after[cluster] = page.Name
			}
		}
	}

	for cluster, page := range after {
		switch was, stood := before[cluster]; {
		case !stood:
			gained++
		case was != page:
			moved++
		}
	}

	for cluster := range before {
		if _, stays := after[cluster]; !stays {
			lost++
		}
	}
	return gained, lost, moved
}

// mayLose reports whether the changed pages had more than a percentage of the clusters, which is cheap to check and mostly false.
func (c *pageChanges) mayLose(percent int) bool {
	touched, all := 0, 0
	for _, page := range c.before {
		all += len(page.Decisions)
		if slices.ContainsFunc(c.list, func(change pageChange) bool { return change.page.Name == page.Name }) {
			touched += len(page.Decisions)
		}
	}
	return exceeds(touched, all, percent)
}

// lost returns, by name, the clusters that were in a page and are in none any more, and how many there were. Clusters that only an edited
// page had are not counted: the hub may never have selected them.
func (c *pageChanges) lost(edited map[string]bool) (lost []string, all int) {
	own := slices.DeleteFunc(slices.Clone(c.before), func(page *api.Page) bool { return edited[page.Name] })
	was, is := members(own), members(c.after())
	for cluster := range members(c.before) {
		if is[cluster] {
			was[cluster] = true
		}
	}
	all = len(was)
	maps.DeleteFunc(was, func(cluster string, _ bool) bool { return is[cluster] })
	return slices.Sorted(maps.Keys(was)), all
}

// exceeds reports whether a part of all is more than a percentage.
func exceeds(part, all, percent int) bool { return part*100 > percent*all }

func members(pages []*api.Page) map[string]bool {
	members := map[string]bool{}
	for _, page := range pages {
		for i := range page.Decisions {
			members[page.Decisions[i].Cluster] = true
		}
	}
	return members
}
