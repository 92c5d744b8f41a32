// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/dashboard/runbooks"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// crumb is a page above the one that is shown.
type crumb struct{ Text, Link string }

// head is what a page says first about an object.
type head struct {
	State string
	Tone  document.Tone
	// Text says why the object has the state; empty for nothing.
	Text  string
	Facts []fact

	until time.Time // It has to be made again then; zero for never.
}

// fact is a field of a head, with those of the values that are not empty.
type fact struct {
	Label, Text, Link string
	Time              time.Time
	Chips             []chip
}

// chip is a short value, with a link if that is not empty.
type chip struct {
	Text, Link string
	Tone       document.Tone
}

// add adds a fact unless it says nothing.
func (h *head) add(said fact) {
	if said.Text != "" || !said.Time.IsZero() || len(said.Chips) > 0 {
		h.Facts = append(h.Facts, said)
	}
}

// chipsOf returns chips with "key=value", sorted by key.
func chipsOf(values map[string]string) []chip {
	chips := make([]chip, 0, len(values))
	for key, value := range values {
		chips = append(chips, chip{Text: key + "=" + value, Link: link([]string{clustersPath}, lists.ByLabel, key+"="+value)})
	}
	slices.SortFunc(chips, func(a, b chip) int { return cmp.Compare(a.Text, b.Text) })
	return chips
}

// setChips returns chips that lead to the clusters of sets.
func setChips(sets []string) []chip {
	chips := make([]chip, 0, len(sets))
	for _, set := range sets {
		chips = append(chips, chip{Text: set, Link: setLink(set)})
	}
	return chips
}

// stateOf returns the state of a Placement by its conditions, and the condition that decides; nil for none.
func stateOf(conditions []metav1.Condition) (state string, tone document.Tone, by *metav1.Condition) {
	for _, each := range placementStates {
		condition := meta.FindStatusCondition(conditions, each.condition)
		if condition != nil && condition.Status == each.status {
			return each.state, each.tone, condition
		}
	}
	return stateNew, document.Plain, nil
}

// conditionTone returns the meaning of a condition of a Placement: what its type says, and not whether its status is True.
func conditionTone(of metav1.Condition) document.Tone {
	for _, each := range placementStates {
		if each.condition == of.Type {
			return toneOf(of.Status, each.status, each.tone)
		}
	}
	return document.Plain
}

// toneOf returns the tone of a status of a condition that has the tone met with another one.
func toneOf(status, with metav1.ConditionStatus, met document.Tone) document.Tone {
	switch {
	case status == with:
		return met
	case status == metav1.ConditionUnknown:
		return document.Fair
	case met == document.Good: // The other status is the opposite.
		return document.Bad
	default:
		return document.Good
	}
}

// headOf returns the head of a Placement. object is its metadata; nil if the caller may not get it.
func headOf(ctx context.Context, v *visit, report *explain.Report, asked named, object metav1.Object) head {
	state, tone, by := stateOf(report.Conditions)
	shown := head{State: state, Tone: tone}
	if report.Wanted == nil || report.Stalled || report.Skipped != "" || report.Unanswered != "" { // Otherwise the headline says it.
		selected := item{Selected: new(len(report.Selected)), Wanted: report.Wanted}
		shown.add(fact{Label: "Selected", Text: selectedOf(&selected)})
	}
	if by != nil {
		shown.add(fact{Label: "Since", Time: by.LastTransitionTime.Time})
	}
	last := v.changes.of(ctx, v, asked)
	change, at := last.text, last.at
	if change == "" {
		change, at = lastRemovals(report.Conditions, v.now)
	}
	if change == "" {
		change = "none in the history and the Events that you may read"
	}
	shown.until = last.until(v.now)
	shown.add(fact{Label: "Last change", Text: change, Time: at})
	shown.add(fact{Label: historySection, Text: "all changes of its clusters", Link: asked.path(historyPath)})
	if object != nil {
		shown.add(fact{Label: "Owner", Text: ownerOf(object)})
		shown.add(fact{Label: "Created", Time: object.GetCreationTimestamp().Time})
	}
	return shown
}

// lastRemovals returns the clusters that have left within the window of the removal budget, as a text, and the time of the last removal; "" if
// none has.
func lastRemovals(conditions []metav1.Condition, now time.Time) (text string, at time.Time) {
	removed := removalbudget.RemovedLately(conditions, now)
	if len(removed) == 0 {
		return "", time.Time{}
	}
	names := make([]string, 0, len(removed))
	for name, left := range removed {
		names = append(names, name)
		if left.After(at) {
			at = left
		}
	}
	slices.Sort(names)
	return "lost " + document.Abbreviate(names), at
}

// removalsSentence returns the record of recent removals for people.
func removalsSentence(conditions []metav1.Condition, now time.Time) string {
	text, at := lastRemovals(conditions, now)
	if text == "" {
		return "No cluster has left in the last 10 minutes."
	}
	return "In the last 10 minutes the decisions have " + text + ", the last of them at " + at.UTC().Format(time.TimeOnly) +
		" UTC. The removal budget counts them."
}

// memorySentence returns what the removal budget of a Placement remembers for people.
func memorySentence(conditions []metav1.Condition) string {
	told, text := removalbudget.RememberedIn(conditions), "The hub keeps this for the next check of the removal budget."
	if len(told.Held) > 0 {
		text += " Held clusters: " + document.Abbreviate(told.Held) + "."
	}
	if told.Unnamed > 0 {
		text += " Held clusters without a name here: " + itoa(told.Unnamed) + "."
	}
	if len(told.Joined) > 0 {
		text += " Clusters that have joined lately: " + document.Abbreviate(told.Joined) + "."
	}
	if told.Applied > 0 {
		text += " The decisions are those of generation " + strconv.FormatInt(told.Applied, 10) + " of the Placement."
	}
	return text
}

// owners are the labels and annotations by which tools mark what they apply, with the words for the tool.
var owners = []struct {
	annotation bool
	key, tool  string
}{
	{true, "argocd.argoproj.io/tracking-id", "Argo CD application"},
	{false, "argocd.argoproj.io/instance", "Argo CD application"},
	{false, "kustomize.toolkit.fluxcd.io/name", "Flux Kustomization"},
	{false, "helm.toolkit.fluxcd.io/name", "Flux HelmRelease"},
	{true, "meta.helm.sh/release-name", "Helm release"},
	{false, "app.kubernetes.io/managed-by", "managed by"},
}

// ownerOf returns who owns an object: its controller, the tool that has applied it, or the field manager that has written its spec last.
func ownerOf(object metav1.Object) string {
	for _, reference := range object.GetOwnerReferences() {
		return reference.Kind + " " + reference.Name
	}
	for _, each := range owners {
		values := object.GetLabels()
		if each.annotation {
			values = object.GetAnnotations()
		}
		if value, _, _ := strings.Cut(values[each.key], ":"); value != "" {
			return each.tool + " " + value
		}
	}
	last := metav1.ManagedFieldsEntry{}
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && (last.Time == nil || !entry.Time.Before(last.Time)) {
			last = entry
		}
	}
	if last.Manager == "" {
		return ""
	}
	return "last written by " + last.Manager
}

// conditionsOf returns the conditions of a Placement for the page.
func conditionsOf(v *visit, conditions []metav1.Condition) []condition {
	shown := make([]condition, 0, len(conditions))
	for _, each := range conditions {
		told := condition{Condition: each, Tone: conditionTone(each), Runbook: runbooks.Link(each.Type, each.Reason)}
		switch each.Type {
		case removalbudget.RecordCondition:
			told.Message = removalsSentence(conditions, v.now)
		case removalbudget.MemoryCondition:
			told.Message = memorySentence(conditions)
		}
		shown = append(shown, told)
	}
	return shown
}
