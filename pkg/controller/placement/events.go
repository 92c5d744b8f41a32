package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
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
	// update is the reason, after "Decision", of an event that tells of the clusters of a page.
	update = "Update"
)

// recorders sends events about the decisions of a Placement (docs/spec/upstream-placement.md 1.12).
type recorders struct {
	recorder events.EventRecorder
}

// recorderOf returns a recorder that sends events while the manager leads and has nothing more urgent to do.
func recorderOf(mgr manager.Manager, busy func() bool) (events.EventRecorder, error) {
	sink, err := eventwriter.NewSink(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to write events: %w", err)
	}

	writer := eventwriter.New(sink, component, busy)
	if err := mgr.Add(writer); err != nil {
		return nil, fmt.Errorf("adding the writer of events: %w", err)
	}

	return writer, nil
}

// cycleRecorder collects the page changes of one reconcile, and sends one event for each kind of change with all pages that it concerns.
type cycleRecorder struct {
	recorder  events.EventRecorder
	placement *corev1.ObjectReference
	result    *scheduling.Result
	done      []pageChange
	// edited are the names of the pages that others had edited.
	edited map[string]bool
}

// pageChange is one kind of change with its pages in the order of the writes.
type pageChange struct {
	reason, verb string
	pages        []*api.Page
}

// forCycle returns the recorder of one reconcile.
func (r recorders) forCycle(placement *api.Placement, result *scheduling.Result) *cycleRecorder {
	owner := placement.API.Codec().Owner()

	return &cycleRecorder{
		recorder: r.recorder, result: result,
		placement: &corev1.ObjectReference{
			APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Namespace: placement.Namespace, Name: placement.Name,
			UID: placement.UID,
		},
	}
}

// record adds a change of a page.
func (r *cycleRecorder) record(action decision.Action, page *api.Page) {
	switch action {
	case decision.ActionCreate:
		r.add("Create", "created", page)
	case decision.ActionDelete:
		r.add("Delete", "deleted", page)
	case decision.ActionUpdateDecisions:
		r.add(update, "updated", page)
	case decision.ActionUpdateMetadata, decision.ActionTouch:
	}
}

func (r *cycleRecorder) add(reason, verb string, page *api.Page) {
	at := slices.IndexFunc(r.done, func(d pageChange) bool { return d.reason == reason })
	if at < 0 {
		at = len(r.done)
		r.done = append(r.done, pageChange{reason: reason, verb: verb})
	}

	r.done[at].pages = append(r.done[at].pages, page)
}

// send sends the events.
func (r *cycleRecorder) send() {
	for _, done := range r.done {
		related := r.related(done.pages[0])
		kind, note := corev1.EventTypeNormal, fmt.Sprintf("%s %s with placement %s in namespace %s",
			subject(done.pages), done.verb, r.placement.Name, r.placement.Namespace)

		if done.reason != update {
			r.recorder.Eventf(r.placement, related, kind, "Decision"+done.reason, "Decision"+done.reason+"d", "%s", note)

			continue
		}

		if warnings := r.result.Warnings(); len(warnings) > 0 {
			first := warnings[0]
			kind, note = corev1.EventTypeWarning, note+": "+first.Message+" in plugin "+first.Source
		}

		r.recorder.Eventf(r.placement, related, kind, "DecisionUpdate", "DecisionUpdated", "%s", note)

		if r.result.Outcome() == scheduling.Decided && r.result.Feasible() > 0 { // Otherwise there are no scores.
			r.recorder.Eventf(r.placement, related, corev1.EventTypeNormal, "ScoreUpdate", "ScoreUpdated", "%s",
				words(func() string { return scores(r.result) }))
		}
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

	for f, score := range result.Scores() {
		number := strconv.FormatInt(score, 10)
		if text.Len()+len(f.Name)+len(number)+2 > longestScores {
			text.WriteString("......")

			break
		}

		text.WriteString(f.Name)
		text.WriteByte(':')
		text.WriteString(number)
		text.WriteByte(' ')
	}

	return text.String()
}
