// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// maxCounterfactuals bounds the returned counterfactuals.
	maxCounterfactuals = 3
	// maxEvaluations bounds the evaluations of one search.
	maxEvaluations = 400
)

// search finds the counterfactuals of one cluster.
type search struct {
	state     *explain.State
	key       inventory.Key
	cluster   string
	now       time.Time
	evaluator *explain.Evaluator
	// budget is the number of evaluations that are left.
	budget int
	// selected are the clusters that are selected without a change, by name.
	selected []string
}

// step is the State after some candidates were applied, with the result in it.
type step struct {
	candidates []candidate
	state      *explain.State
	result     *scheduling.Result
	selected   bool
	// leaving are the clusters that are selected without the candidates and not with them, by name.
	leaving []string
}

// Search returns at most three counterfactuals of a cluster that a Placement does not select, the nearest first; each was confirmed by the
// scheduler. Those for which no other cluster leaves come first. It returns none when the cluster is selected, when the Placement has no valid
// result, or when no one or two changes help.
func Search(state *explain.State, key inventory.Key, cluster string, now time.Time) []Counterfactual {
	s := &search{state: state, key: key, cluster: cluster, now: now, evaluator: state.NewEvaluator(key, now), budget: maxEvaluations}
	if s.evaluator == nil {
		return nil
	}

	found := s.steps()

	counterfactuals := make([]Counterfactual, 0, len(found))
	for _, step := range found {
		counterfactuals = append(counterfactuals, newCounterfactual(step.candidates, step.leaving))
	}

	return counterfactuals
}

// steps returns the steps that select the cluster, the nearest first.
func (s *search) steps() []step {
	present, answered := s.evaluate(step{state: s.state})
	if !answered || present.selected {
		return nil
	}

	s.selected = namesOf(present.result.Selected)

	helps, fails := s.try(present)
	if len(helps) > 0 {
		return nearest(append(helps, s.keeping(helps)...))
	}

	for _, first := range fails {
		both, _ := s.try(first)
		for _, pair := range both {
			if second, alone := s.sufficient(pair.candidates[1]); alone {
				helps = append(helps, second)
			} else {
				helps = append(helps, pair)
			}
		}
	}

	return nearest(helps)
}

// keeping returns steps that have the cluster selected beside those that are selected now, by a higher numberOfClusters. It returns none if that
// is not needed, because a step without it keeps them.
func (s *search) keeping(helps []step) []step {
	if slices.ContainsFunc(helps, func(help step) bool { return len(help.leaving) == 0 }) {
		return nil
	}

	var found []step

	for _, help := range helps {
		wanted := help.result.Request.Wanted
		if wanted == nil {
			continue
		}

		next, answered := s.extend(help, s.withNumber(int(*wanted)+len(help.leaving)))
		if answered && next.selected && len(next.leaving) == 0 {
			found = append(found, next)
		}
	}

	return found
}

func namesOf(clusters []*clusterinfo.ClusterInfo) []string {
	names := make([]string, 0, len(clusters))
	for _, cluster := range clusters {
		names = append(names, cluster.Name)
	}

	return names
}

// try applies each candidate to a step, and separates the steps that select the cluster from the others.
func (s *search) try(from step) (helps, fails []step) {
	seen := map[string]bool{}

	for _, more := range s.candidates(from) {
		if seen[more.subject()] || slices.ContainsFunc(from.candidates, func(other candidate) bool { return other.subject() == more.subject() }) {
			continue
		}

		next, answered := s.extend(from, more)

		switch {
		case !answered:
		case next.selected:
			seen[more.subject()] = true
			helps = append(helps, next)
		default:
			fails = append(fails, next)
		}
	}

	return helps, fails
}

// extend evaluates a step with one more candidate. It returns false when the candidate cannot be applied, or the budget is used up.
func (s *search) extend(from step, more candidate) (step, bool) {
	if s.budget == 0 {
		return step{}, false
	}

	state, err := more.apply(from.state, s.now)
	if err != nil { // The hub would refuse the change.
		return step{}, false
	}

	return s.evaluate(step{state: state, candidates: append(slices.Clone(from.candidates), more)})
}

// sufficient reports whether the second of two changes alone selects the cluster.
func (s *search) sufficient(second candidate) (step, bool) {
	single, answered := s.extend(step{state: s.state}, second)

	return single, answered && single.selected
}

func (s *search) evaluate(at step) (step, bool) {
	s.budget--

	var more []scheduling.Prioritizer
	for _, candidate := range at.candidates {
		more = append(more, candidate.prioritizers...)
	}

	at.result = s.evaluator.Evaluate(at.state, more...)
	if at.result == nil || at.result.Outcome() != scheduling.Decided {
		return at, false
	}

	selected := namesOf(at.result.Selected)
	_, at.selected = slices.BinarySearch(selected, s.cluster)

	for _, name := range s.selected {
		if _, still := slices.BinarySearch(selected, name); !still {
			at.leaving = append(at.leaving, name)
		}
	}

	return at, true
}

// nearest returns the best steps without duplicates: those that let no cluster leave, then those with the fewest changes and the lowest cost. It
// leaves out steps with more changes than such a one.
func nearest(helps []step) []step {
	size := func(s step) int {
		sum := 0
		for _, candidate := range s.candidates {
			sum += candidate.cost
		}

		return sum
	}

	slices.SortStableFunc(helps, func(a, b step) int {
		return cmp.Or(
			cmp.Compare(min(len(a.leaving), 1), min(len(b.leaving), 1)), cmp.Compare(len(a.candidates), len(b.candidates)),
			cmp.Compare(size(a), size(b)),
		)
	})

	fewest := 0 // of the steps so far
	helps = slices.DeleteFunc(helps, func(s step) bool {
		if fewest == 0 || len(s.candidates) < fewest && len(s.leaving) > 0 {
			fewest = len(s.candidates)
		}

		return len(s.candidates) > fewest
	})

	known := map[string]bool{}
	helps = slices.DeleteFunc(helps, func(s step) bool {
		subjects := make([]string, 0, len(s.candidates))
		for _, candidate := range s.candidates {
			subjects = append(subjects, candidate.subject())
		}

		slices.Sort(subjects)

		subject := strings.Join(subjects, "\n")
		again := known[subject]
		known[subject] = true

		return again
	})

	return helps[:min(maxCounterfactuals, len(helps))]
}

// newCounterfactual composes the sentence of a set of changes, by which clusters leave.
func newCounterfactual(candidates []candidate, leaving []string) Counterfactual {
	var conditions, demands []string

	counterfactual := Counterfactual{Leaving: leaving}

	for _, candidate := range candidates {
		counterfactual.Changes = append(counterfactual.Changes, Change{Kind: candidate.kind, Text: candidate.text})

		if candidate.conditional() {
			conditions = append(conditions, candidate.text)
		} else {
			demands = append(demands, candidate.text)
		}
	}

	condition, demand := strings.Join(conditions, " and "), strings.Join(demands, " and ")

	switch {
	case demand == "":
		counterfactual.Text = "would be selected if " + condition
	case condition == "":
		counterfactual.Text = "needs " + demand
	default:
		counterfactual.Text = "would be selected if " + condition + ", and needs " + demand + " too"
	}

	if len(leaving) > 0 {
		counterfactual.Text += "; then " + named(leaving) + " would leave"
	}

	return counterfactual
}

// namesShown bounds the clusters that are named.
const namesShown = 3

// named returns the first names, and the number of the others.
func named(names []string) string {
	if len(names) <= namesShown {
		return strings.Join(names, ", ")
	}

	return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
}
