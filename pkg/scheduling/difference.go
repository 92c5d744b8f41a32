// SPDX-License-Identifier: Apache-2.0

package scheduling

import "fmt"

// Difference describes the first difference of two Results of one Request; it is empty when they are equal. It serves to compare Schedule
// with Reference.
func Difference(indexed, reference *Result) string {
	was, is := reference.lines(), indexed.lines()
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return "missing: " + was[i]
		case i >= len(was):
			return "too much: " + is[i]
		case was[i] != is[i]:
			return fmt.Sprintf("%s, but should be %s", is[i], was[i])
		}
	}

	return ""
}

// lines returns the Result as text, without the verdicts of other clusters than the selected ones, which always come from the reference.
func (r *Result) lines() []string {
	lines := []string{
		fmt.Sprintf("held: %v %v", r.Outcome() != Decided, r.Errors.ToAggregate()),
		fmt.Sprintf("scope: %q of %q, %d clusters", r.Eligible, r.Bound, r.Available),
		fmt.Sprintf("unscheduled: %d of %d feasible", r.Unscheduled, r.Feasible()),
		fmt.Sprintf("stages: %v", r.stages),
		fmt.Sprintf("expired: %d", r.Expired),
	}

	// RequeueAt of an evaluation that was given up depends on the order in which the clusters were evaluated.
	if r.Outcome() == Decided {
		lines = append(lines, fmt.Sprintf("wake at: %v", r.RequeueAt))
	}
	for _, info := range r.Selected {
		lines = append(lines, "selected: "+info.Name)
	}
	for _, verdict := range r.Best() {
		lines = append(lines, fmt.Sprintf("best: %s %s rank %d, score %d, %d to avoid, kept %t",
			verdict.Cluster.Name, verdict.Stage, verdict.Rank, verdict.Score, verdict.Avoid, verdict.kept))
	}
	for info, score := range r.Scores() {
		lines = append(lines, fmt.Sprintf("score: %s %d", info.Name, score))
	}

	for _, failed := range r.EvaluationErrors {
		lines = append(lines, fmt.Sprintf("error: %s on %d clusters, %s: %v", failed.Path, failed.Clusters, failed.First, failed.Err))
	}
	for _, warning := range r.Warnings() {
		lines = append(lines, "warning: "+warning.Source+" "+warning.Message)
	}
	for _, set := range r.BrokenSets {
		lines = append(lines, "broken set: "+set.Name)
	}

	for _, spread := range r.Spreads {
		lines = append(lines, fmt.Sprintf("spread: %s %v without %q", spread.Constraint.Key, spread.Selected, spread.Without))
	}
	if r.ListsRejections() {
		for _, rejection := range r.Rejections() {
			lines = append(lines, fmt.Sprintf("cause: %s %s, %d clusters", rejection.Stage, rejection.Clause, rejection.Clusters))
		}
	}
	return lines
}
