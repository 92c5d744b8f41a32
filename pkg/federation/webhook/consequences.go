// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const (
	maxNamed = federation.MaxNamed
	// maxConsequences is how many warnings of consequences there is room for beside maxWarnings others.
	maxConsequences = maxNamed + 3
)

// consequences returns what the annotations of an object mean for its clusters.
func (h *handler) consequences(of *reviewed) ([]string, error) {
	if of == nil || of.after == nil {
		return nil, nil
	}
	warnings := append(of.unknownKeys(), of.unknownPlacement()...)
	if _, unplaced := of.after.Unplaced(); unplaced != "" {
		warnings = append(warnings, "federation: "+unplaced)
	}
	if !of.changed {
		return warnings, nil
	}
	annotations := of.after.Object.Meta.Annotations
	budget, _ := federation.BudgetOf(annotations, h.hub.Limits)

	change, err := of.after.ChangeFrom(of.before, budget, h.hub.Clock.Now())
	if err != nil {
		return warnings, fmt.Errorf("comparing the object with its former state: %w", err)
	}
	return append(warnings, of.withdrawals(change, budget.Percent)...), nil
}

// unknownKeys warns of label keys and values that no cluster in scope has. An object warns of its own annotation alone.
func (r *reviewed) unknownKeys() []string {
	if r.after.Target.FromNamespace != r.isNamespace {
		return nil
	}
	return r.after.UnknownLabels()
}

// unknownPlacement warns of a Placement that does not exist. A new Namespace can have none yet.
func (r *reviewed) unknownPlacement() []string {
	name := r.after.Target.Placement
	if name == "" || r.after.Target.FromNamespace != r.isNamespace || r.isNamespace && r.isNew || slices.Contains(r.placements, name) {
		return nil
	}
	suggestion := "correct the name, or create it"
	if similar := federation.Similar(name, r.placements); similar != "" {
		suggestion = fmt.Sprintf("did you mean %q? Correct the name, or create it", similar)
	}
	return []string{fmt.Sprintf("annotation %s: there is no Placement %q in this namespace; %s: until then nothing is delivered or withdrawn",
		federation.PlacementAnnotation, name, suggestion)}
}

// withdrawals warns of a change that withdraws the object from clusters, or would if the hub did not hold it.
func (r *reviewed) withdrawals(change federation.Change, percent int) []string {
	var warnings []string
	if count := len(change.Withdrawn); count > 0 {
		warnings = append(warnings, fmt.Sprintf("federation: this change withdraws %s from %s%s; to keep it there, restore the former annotations",
			r.subject(), named(change.Withdrawn), r.exception()))
	}
	if len(change.Kept) == 0 {
		return warnings
	}
	cause := fmt.Sprintf("the removal budget of %d%% keeps %s in %s", percent, r.subject(), named(change.Kept))

	if change.MatchesNone {
		_, candidates := r.after.UnknownKeys()
		cause = fmt.Sprintf("the new selector matches none of the %s, so %s stays in %s", inScope(candidates), r.subject(), named(change.Kept))
	}
	if r.isNamespace {
		return append(warnings, "federation: "+cause+"; restore the former annotations, or see placement federated for what withdraws an object")
	}
	return append(warnings, "federation: "+cause+"; restore the former annotations, or confirm the change",
		"federation: to withdraw the object all the same, set the annotation "+removalbudget.ReleaseAnnotation+"="+r.after.ReleaseToken())
}

// subject names the object, or the objects that follow the defaults of a Namespace.
func (r *reviewed) subject() string {
	if r.isNamespace {
		return "each object that follows the namespace"
	}
	return "the object"
}

// exception names what the review does not know.
func (r *reviewed) exception() string {
	if federation.CanBePropagated(r.after.Object.Kind.GroupKind().String()) {
		return ", except where a workload propagates it"
	}
	return ""
}

// named returns "4 clusters: c1, c2, c3 and 1 more".
func named(clusters []string) string {
	text := count(len(clusters), "cluster") + ": " + strings.Join(clusters[:min(len(clusters), maxNamed)], ", ")
	if more := len(clusters) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func inScope(clusters int) string { return count(clusters, "cluster") + " in scope" }

func count(number int, of string) string {
	if number == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", number, of)
}
