package scheduling

import "fmt"

// Difference says how two answers to one question differ; empty when they do not. It is for comparing Schedule with Reference.
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

// lines are all that a result says, but for the verdicts, which are always those of the reference.
func (r *Result) lines() []string {
	lines := []string{
		fmt.Sprintf("held: %v %v", r.Stalled(), r.Errors.ToAggregate()),
		fmt.Sprintf("scope: %q of %q, %d clusters", r.Eligible, r.Bound, r.Available),
		fmt.Sprintf("unscheduled: %d of %d feasible", r.Unscheduled, r.Feasible()),
		fmt.Sprintf("stages: %v", r.stages),
		fmt.Sprintf("expired: %d", r.Expired),
	}

	// When an evaluation that was given up is to be tried again depends on which clusters it came to first.
	if !r.Stalled() {
		lines = append(lines, fmt.Sprintf("wake at: %v", r.RequeueAt))
	}

	for _, f := range r.Selected {
		lines = append(lines, "selected: "+f.Name)
	}

	for f, score := range r.Scores() {
		lines = append(lines, fmt.Sprintf("score: %s %d", f.Name, score))
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
