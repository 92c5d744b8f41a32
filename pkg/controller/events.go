package controller

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// longestScores is where the list of scores in an event is cut, in bytes.
	longestScores = 1000
	// component is who events are from.
	component = "placement-controller"
	// decisionKind is what every API calls its decisions.
	decisionKind = "PlacementDecision"
)

// reporter tells the users of a placement what was written (upstream-placement.md 1.12).
type reporter struct {
	recorder events.EventRecorder
}

// recorderOf makes a recorder for a manager that writes while the manager leads, behind what else there is to do.
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

// report tells what comes of one evaluation of a placement.
type report struct {
	recorder  events.EventRecorder
	placement *corev1.ObjectReference
	result    *scheduling.Result
	// scores are put into words once, and only if the recorder wants them.
	scores words
}

// words are a text that is made when it is asked for.
type words func() string

// String makes the text.
func (w words) String() string { return w() }

// about begins the report of an evaluation.
func (r reporter) about(placement *record.Placement, result *scheduling.Result) report {
	owner := placement.API.Form().Owner()

	return report{
		recorder: r.recorder, result: result, scores: sync.OnceValue(func() string { return scores(result) }),
		placement: &corev1.ObjectReference{
			APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Namespace: placement.Namespace, Name: placement.Name,
			UID: placement.UID, ResourceVersion: placement.ResourceVersion,
		},
	}
}

// tell says what was done with a page.
func (r report) tell(action decision.Action, page *record.Page) {
	const note = "Decision %s is %s with placement %s in namespace %s%s"

	related := &corev1.ObjectReference{
		APIVersion: r.placement.APIVersion, Kind: decisionKind, Namespace: page.Namespace, Name: page.Name,
		UID: page.UID, ResourceVersion: page.ResourceVersion,
	}
	emit := func(kind, reason, verb, suffix string) {
		r.recorder.Eventf(r.placement, related, kind, "Decision"+reason, "Decision"+reason+"d", note,
			page.Name, verb, r.placement.Name, r.placement.Namespace, suffix)
	}

	switch action {
	case decision.ActionCreate:
		emit(corev1.EventTypeNormal, "Create", "created", "")
	case decision.ActionDelete:
		emit(corev1.EventTypeNormal, "Delete", "deleted", "")
	case decision.ActionFill:
		kind, suffix := corev1.EventTypeNormal, ""
		if warnings := r.result.Warnings(); len(warnings) > 0 {
			first := warnings[0]
			kind, suffix = corev1.EventTypeWarning, ": "+first.Message+" in plugin "+first.Source
		}

		emit(kind, "Update", "updated", suffix)

		if !r.result.Held() { // Otherwise there are no scores.
			r.recorder.Eventf(r.placement, related, corev1.EventTypeNormal, "ScoreUpdate", "ScoreUpdated", "%s", r.scores)
		}
	case decision.ActionMend, decision.ActionConfirm:
	}
}

// scores is "c1:200 c2:145 " of the feasible clusters, by name.
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
