package controller

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// longestScores is where the list of scores in an event is cut, in bytes.
const longestScores = 1000

// reporter tells the users of a placement what was written (upstream-placement.md 1.12).
type reporter struct {
	recorder events.EventRecorder
}

func (r reporter) report(
	action decision.Action, placement *record.Placement, page *record.Page, result *scheduling.Result,
) {
	const note = "Decision %s is %s with placement %s in namespace %s%s"

	related := placement.API.Form().Write(&record.Page{ObjectMeta: page.ObjectMeta})
	emit := func(kind, reason, verb, suffix string) {
		r.recorder.Eventf(placement.Object, related, kind, "Decision"+reason, "Decision"+reason+"d", note,
			page.Name, verb, placement.Name, placement.Namespace, suffix)
	}

	switch action {
	case decision.ActionCreate:
		emit(corev1.EventTypeNormal, "Create", "created", "")
	case decision.ActionDelete:
		emit(corev1.EventTypeNormal, "Delete", "deleted", "")
	case decision.ActionFill:
		kind, suffix := corev1.EventTypeNormal, ""
		if warnings := result.Warnings(); len(warnings) > 0 {
			first := warnings[0]
			kind, suffix = corev1.EventTypeWarning, fmt.Sprintf(": %s in plugin %s", first.Message, first.Source)
		}

		emit(kind, "Update", "updated", suffix)

		if !result.Held() { // Otherwise there are no scores.
			r.recorder.Eventf(placement.Object, related, corev1.EventTypeNormal, "ScoreUpdate", "ScoreUpdated", "%s", scores(result))
		}
	case decision.ActionMend:
	}
}

// scores is "c1:200 c2:145 " of the feasible clusters, by name.
func scores(result *scheduling.Result) string {
	var text strings.Builder

	for f, score := range result.Scores() {
		entry := fmt.Sprintf("%s:%d ", f.Name, score)
		if text.Len()+len(entry) > longestScores {
			return text.String() + "......"
		}

		text.WriteString(entry)
	}

	return text.String()
}
