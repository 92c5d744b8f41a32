// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/history"
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

// sendChanges sends one event and writes one log line about the clusters that the pages really gained and lost
// (docs/spec/differences.md E1a), and returns the reasons that they name. The first decisions of a Placement have no event: that of the creation of
// their pages says so.
func (r *cycleRecorder) sendChanges(ctx context.Context) []history.Reason {
	text, reasons := r.changes.describe(r.result)
	if text == "" {
		return nil
	}
	klog.FromContext(ctx).Info("The clusters of a Placement changed", "placement", klog.KRef(r.placement.Namespace, r.placement.Name),
		"changes", text)
	if len(r.changes.before) > 0 {
		r.recorder.Eventf(r.placement, nil, corev1.EventTypeNormal, "ClustersChanged", "DecisionsWritten", "%s", text)
	}
	return reasons
}

// warnOfHold sends an event about a removal that is held.
func (r *cycleRecorder) warnOfHold(summary string) {
	r.recorder.Eventf(r.placement, nil, corev1.EventTypeWarning, removalbudget.Condition, "DecisionsKept",
		"%s; they are kept: see the condition %s", summary, removalbudget.Condition)
}

// warnOfLosses sends an event when the pages have lost more than a percentage of their clusters, for whatever cause.
func (r *cycleRecorder) warnOfLosses(percent int) {
	if len(r.changes.list) == 0 || percent >= removalbudget.NoLimit || !r.changes.mayLose(percent) {
		return
	}
	if lost, all := r.changes.lost(); exceeds(len(lost), all, percent) {
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
